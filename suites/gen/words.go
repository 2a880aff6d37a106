package gen

// Words that the generators draw from. Another word is another version of every
// suite that draws from the list.
var (
	firstNames = []string{"Ada", "Bruno", "Carla", "Dario", "Elin", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Liam", "Mira", "Noor", "Oscar", "Petra", "Quinn", "Rosa", "Sven", "Tara", "Uma", "Viktor", "Wanda", "Yusuf"}
	lastNames  = []string{"Abel", "Brandt", "Costa", "Dahl", "Engel", "Fontaine", "Grant", "Holm", "Ivanov", "Jensen", "Keller", "Lopez", "Moreau", "Novak", "Okafor", "Park", "Rossi", "Stone", "Tanaka", "Vance", "Weber", "Zhang"}
	cities     = []string{"Athens", "Bergen", "Cairo", "Dublin", "Essen", "Florence", "Geneva", "Hanoi", "Istanbul", "Jakarta", "Kyoto", "Lisbon", "Madrid", "Nairobi", "Oslo", "Prague", "Quito", "Riga", "Seville", "Tallinn", "Utrecht", "Vienna", "Warsaw", "Zurich"}
	colors     = []string{"amber", "azure", "beige", "coral", "crimson", "indigo", "ivory", "jade", "khaki", "lilac", "maroon", "ochre", "olive", "pearl", "plum", "rust", "sable", "teal", "umber", "violet"}
	things     = []string{"anchor", "basket", "bottle", "camera", "candle", "carpet", "drill", "engine", "fence", "guitar", "hammer", "kettle", "ladder", "lantern", "mirror", "needle", "orchid", "pillow", "ribbon", "saddle", "teapot", "trumpet", "umbrella", "wagon"}
	chores     = []string{"archive", "audit", "backup", "bake", "clean", "compile", "deploy", "drain", "fetch", "glue", "heat", "index", "label", "migrate", "mount", "paint", "print", "rinse", "scan", "sign", "sort", "stamp", "test", "wire", "wrap"}
)
