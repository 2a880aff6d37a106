package gen

import (
	"fmt"
	"strings"
)

// ability is a tool with requests that only it can serve.
type ability struct {
	tool
	// request draws a sentence and the arguments that it stands for.
	request func(d *draw) (string, map[string]any)
}

// say fills one of several wordings; all take the same values by index.
func say(d *draw, forms []string, values ...any) string {
	return fmt.Sprintf(pick(d, forms), values...)
}

var (
	clock = func(d *draw) string { return fmt.Sprintf("%02d:%02d", d.between(7, 21), 5*d.below(12)) }
	date  = func(d *draw) string { return fmt.Sprintf("2026-%02d-%02d", d.between(1, 12), d.between(1, 28)) }
)

// simple abilities have scalar arguments.
var simple = []ability{
	{tool{"get_weather", "Weather in a city now.", []param{text("city", "City")}}, func(d *draw) (string, map[string]any) {
		city := pick(d, cities)
		return say(d, []string{"What is the weather like in %s right now?", "Tell me the current weather in %s.", "Do I need an umbrella in %s at the moment?"}, city), map[string]any{"city": city}
	}},
	{tool{"set_timer", "Start a countdown.", []param{whole("minutes", "Length in minutes")}}, func(d *draw) (string, map[string]any) {
		n := d.between(2, 59)
		return say(d, []string{"Start a timer of %d minutes.", "Wake me when %d minutes have passed from now, with a timer.", "Count down %d minutes for the pasta."}, n), map[string]any{"minutes": n}
	}},
	{tool{"send_message", "Send a text message to a contact.", []param{text("to", "First name of the contact"), text("body", "Text of the message, as it is to be read")}}, func(d *draw) (string, map[string]any) {
		who, body := pick(d, firstNames), pick(d, []string{"The train is late", "Dinner is ready", "Call me tonight", "I found your keys", "See you at noon", "The parcel is here"})
		return say(d, []string{"Send %[1]s this message: \"%[2]s\"", "Text \"%[2]s\" to %[1]s.", "Let %[1]s have a message that says exactly \"%[2]s\""}, who, body), map[string]any{"to": who, "body": body}
	}},
	{tool{"convert_currency", "Convert an amount of money.", []param{number("amount", "Amount"), oneOf("from", "ISO code", "EUR", "USD", "CHF", "NOK", "JPY"), oneOf("to", "ISO code", "EUR", "USD", "CHF", "NOK", "JPY")}}, func(d *draw) (string, map[string]any) {
		two := some(d, []string{"EUR", "USD", "CHF", "NOK", "JPY"}, 2)
		n := float64(d.between(10, 900)) + 0.5*float64(d.below(2))
		return say(d, []string{"How much is %[1]v %[2]s in %[3]s?", "Convert %[1]v %[2]s to %[3]s.", "I have %[1]v %[2]s; what do I get for it in %[3]s?"}, n, two[0], two[1]), map[string]any{"amount": n, "from": two[0], "to": two[1]}
	}},
	{tool{"book_table", "Book a table in a restaurant.", []param{text("restaurant", "Name of the restaurant"), whole("people", "Number of guests"), text("time", "Today's time as HH:MM, 24 hours")}}, func(d *draw) (string, map[string]any) {
		place, n, at := pick(d, lastNames)+"'s", d.between(2, 9), clock(d)
		return say(d, []string{"Book a table for %[2]d at %[1]s today at %[3]s.", "We are %[2]d people; reserve at %[1]s for %[3]s today.", "Get us a table at %[1]s, %[3]s today, %[2]d guests."}, place, n, at), map[string]any{"restaurant": place, "people": n, "time": at}
	}},
	{tool{"find_route", "Plan a journey.", []param{text("from", "City of departure"), text("to", "City of arrival"), oneOf("mode", "Means of travel", "train", "car", "bus", "plane")}}, func(d *draw) (string, map[string]any) {
		two, mode := some(d, cities, 2), pick(d, []string{"train", "car", "bus", "plane"})
		return say(d, []string{"How do I get from %[1]s to %[2]s by %[3]s?", "Plan a journey to %[2]s from %[1]s, by %[3]s.", "I want to go by %[3]s, starting in %[1]s and ending in %[2]s."}, two[0], two[1], mode), map[string]any{"from": two[0], "to": two[1], "mode": mode}
	}},
	{tool{"set_thermostat", "Set the temperature of a room.", []param{oneOf("room", "Room", "kitchen", "bedroom", "office", "bathroom"), number("celsius", "Temperature in degrees Celsius")}}, func(d *draw) (string, map[string]any) {
		room, n := pick(d, []string{"kitchen", "bedroom", "office", "bathroom"}), float64(d.between(34, 48))/2
		return say(d, []string{"Make it %[2]v degrees Celsius in the %[1]s.", "Set the %[1]s to %[2]v °C.", "The %[1]s should be at %[2]v degrees Celsius."}, room, n), map[string]any{"room": room, "celsius": n}
	}},
	{tool{"track_parcel", "Where a parcel is.", []param{text("code", "Tracking code")}}, func(d *draw) (string, map[string]any) {
		code := d.code(2, 7)
		return say(d, []string{"Where is parcel %s?", "Has the shipment %s left the warehouse?", "Track %s for me."}, code), map[string]any{"code": code}
	}},
	{tool{"create_event", "Put an event into the calendar.", []param{text("title", "Title"), text("date", "YYYY-MM-DD"), text("start", "HH:MM, 24 hours")}}, func(d *draw) (string, map[string]any) {
		title, day, at := pick(d, chores)+" the "+pick(d, things), date(d), clock(d)
		return say(d, []string{"Put \"%[1]s\" into my calendar on %[2]s at %[3]s.", "Calendar, please: %[2]s, %[3]s, title \"%[1]s\".", "On %[2]s I do \"%[1]s\" from %[3]s on; make an event of it."}, title, day, at), map[string]any{"title": title, "date": day, "start": at}
	}},
	{tool{"query_stock", "How many pieces of an article a warehouse has.", []param{text("sku", "Article number"), text("warehouse", "City of the warehouse")}}, func(d *draw) (string, map[string]any) {
		sku, city := d.code(3, 4), pick(d, cities)
		return say(d, []string{"How many %[1]s are left in the %[2]s warehouse?", "Check the stock of article %[1]s in %[2]s.", "Does the warehouse of %[2]s still have %[1]s?"}, sku, city), map[string]any{"sku": sku, "warehouse": city}
	}},
	{tool{"translate_text", "Translate a text.", []param{text("text", "Text to translate"), oneOf("language", "Language to translate into", "German", "French", "Spanish", "Norwegian", "Japanese")}}, func(d *draw) (string, map[string]any) {
		word, lang := pick(d, []string{"good evening", "where is the station", "thank you very much", "the bill, please", "I am lost", "happy birthday"}), pick(d, []string{"German", "French", "Spanish", "Norwegian", "Japanese"})
		return say(d, []string{"Translate \"%[1]s\" into %[2]s with the tool.", "Use the translator: what is \"%[1]s\" in %[2]s?", "I need \"%[1]s\" in %[2]s, from the translation tool."}, word, lang), map[string]any{"text": word, "language": lang}
	}},
}

// typed abilities have arguments of one kind each; the kind is a label.
var typed = []struct {
	kind string
	ability
}{
	{"enum", ability{tool{"set_status", "Set the status of a ticket.", []param{text("ticket", "Ticket number"), oneOf("status", "New status", "open", "in_progress", "on_hold", "resolved", "wont_fix")}}, func(d *draw) (string, map[string]any) {
		t, i := d.code(1, 5), d.below(5)
		words := []string{"open again", "in progress", "on hold", "resolved", "something that we won't fix"}
		return say(d, []string{"Mark ticket %[1]s as %[2]s.", "Ticket %[1]s is %[2]s now; set its status.", "Please record that %[1]s is %[2]s."}, t, words[i]), map[string]any{"ticket": t, "status": []string{"open", "in_progress", "on_hold", "resolved", "wont_fix"}[i]}
	}}},
	{"number", ability{tool{"convert_length", "Convert a length.", []param{number("value", "Value"), oneOf("from", "Unit", "m", "km", "ft", "mi"), oneOf("to", "Unit", "m", "km", "ft", "mi")}}, func(d *draw) (string, map[string]any) {
		at, long := some(d, numbers(4), 2), []string{"metres", "kilometres", "feet", "miles"}
		short, v := []string{"m", "km", "ft", "mi"}, float64(d.between(-400, 9000))/8
		return say(d, []string{"How many %[3]s are %[1]v %[2]s?", "Convert %[1]v %[2]s to %[3]s.", "Express %[1]v %[2]s in %[3]s."}, v, long[at[0]], long[at[1]]), map[string]any{"value": v, "from": short[at[0]], "to": short[at[1]]}
	}}},
	{"array", ability{tool{"tag_article", "Replace the tags of an article.", []param{whole("id", "Article number"), listOf("tags", "Tags in the order given", "string")}}, func(d *draw) (string, map[string]any) {
		id, tags := d.between(100, 9999), some(d, things, d.between(2, 4))
		return say(d, []string{"Give article %[1]d the tags %[2]s.", "Tag %[1]d with %[2]s, in this order.", "Article %[1]d needs exactly these tags: %[2]s."}, id, listed(tags)), map[string]any{"id": id, "tags": tags}
	}}},
	{"integers", ability{tool{"draw_chart", "Draw a bar chart.", []param{text("title", "Title"), listOf("values", "Heights of the bars", "integer")}}, func(d *draw) (string, map[string]any) {
		title, n := pick(d, cities)+" "+pick(d, things)+"s", d.between(3, 5)
		values, words := make([]int, n), make([]string, n)
		for i := range values {
			values[i] = d.between(-20, 300)
			words[i] = fmt.Sprint(values[i])
		}
		return say(d, []string{"Draw a bar chart \"%[1]s\" of %[2]s.", "I need bars of %[2]s under the title \"%[1]s\".", "Make a chart titled \"%[1]s\"; its bars are %[2]s high."}, title, listed(words)), map[string]any{"title": title, "values": values}
	}}},
	{"nested", ability{tool{"create_invoice", "Write an invoice.", []param{object("customer", "Who pays", text("name", "Full name"), text("city", "City")), object("line", "What is paid for", text("item", "Item"), whole("quantity", "Pieces"), number("price", "Price of a piece"))}}, func(d *draw) (string, map[string]any) {
		name, city, item, n, price := pick(d, firstNames)+" "+pick(d, lastNames), pick(d, cities), pick(d, colors)+" "+pick(d, things), d.between(1, 40), float64(d.between(8, 400))/4
		return say(d, []string{"Invoice %[1]s of %[2]s for %[4]d pieces of the item \"%[3]s\" at %[5]v each.", "Bill for %[1]s, %[2]s: item \"%[3]s\", quantity %[4]d, price per piece %[5]v.", "%[1]s from %[2]s bought \"%[3]s\", %[4]d pieces, %[5]v for each one. Write the invoice."}, name, city, item, n, price),
			map[string]any{"customer": map[string]any{"name": name, "city": city}, "line": map[string]any{"item": item, "quantity": n, "price": price}}
	}}},
	{"boolean", ability{tool{"schedule_backup", "Schedule a backup.", []param{object("target", "What is saved", text("host", "Host"), text("path", "Path")), whole("keep_days", "How long it is kept"), flag("encrypted", "Whether it is encrypted")}}, func(d *draw) (string, map[string]any) {
		host, dir, n, sealed := pick(d, colors)+fmt.Sprint(d.between(1, 40)), "/srv/"+pick(d, things), d.between(3, 400), d.below(2) == 0
		how := map[bool]string{true: "encrypted", false: "without encryption"}[sealed]
		return say(d, []string{"Back up %[2]s of host %[1]s, %[4]s, and keep it for %[3]d days.", "Schedule a backup, %[4]s: host %[1]s, path %[2]s, kept %[3]d days.", "Keep a copy of %[2]s on %[1]s for %[3]d days, %[4]s."}, host, dir, n, how),
			map[string]any{"target": map[string]any{"host": host, "path": dir}, "keep_days": n, "encrypted": sealed}
	}}},
}

// listed joins words as a sentence does.
func listed(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
