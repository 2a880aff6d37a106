package scrub

import (
	"regexp"
	"strings"
	"testing"
)

var placeholderForm = regexp.MustCompile(`^<[A-Z][A-Z0-9_]*_\d+>$`)

func mustNew(t testing.TB, o Options) *Scrubber {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// [value] marks what a rule must find, and nothing else may be found.
var findings = []struct{ rule, text string }{
	{"email", "write to [ada.lovelace+x@example.org], thanks"},
	{"email", "<[a@b-c.example.co.uk]>, mailto:[x_y@sub.example.com]."},
	{"email", "?q=1&mail=[ada%40example.org]&x"},
	{"email", "联系[ada@example.org]谢谢"},
	{"email", "[jürgen.müller@bücher.example]"},
	{"email", "[ada@xn--bcher-kva.example]"},
	{"email", "[δοκιμή@παράδειγμα.ελ], [иван@пример.рф]. [用户@例子.广告]"},
	{"email", "联系 [ada@例え.jp] 谢谢; 联系[ada@例子.中国]谢谢; [ada@mail.例子.公司]"},
	{"email", "mailto:[ada@bücher.example]?subject=x MAILTO:[ada%40example.org] [ada@xn--fsqu00a.xn--0zwm56d]"},
	{"email", "[ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ] [ada@exam\u200bple.sub.org]"},
	{"phone", "[+1 (212) 555-0187 ext. 23], [212-555-0187x23], [(212) 555-0187, ext 4]; tel:[+1-201-555-0123;ext=12]"},
	{"phone", "[+49 30 901820 Durchwahl 12] [+49.30.901820] [+49/30/901820-12] [+49(0)30/901820-12] [+44(0)2079460958]"},
	{"phone", "[+33.6.12.34.56.78], [+33 (0)6 12 34 56 78]; [(0)30 901820]; [(0049) 30 901820]; [011-44-20-7946-0958]"},
	{"phone", "[138-1234-5678]; [(11) 98765-4321] e [(11) 2345-6789]; [8 (495) 123-45-67], [8-800-555-35-35]; Fon: [9018203]"},
	{"phone", "[030 9018201] [030 9018202] [030 9018203] [030 9018204] [030 9018205] [030 9018206] [030 9018207]"},
	{"phone", "電話 [０３－１２３４－５６７８]; [٠٦ ١٢ ٣٤ ٥٦ ٧٨]; [+49\u201330\u2013901820]; [212\u2011555\u20110187]"},
	{"phone", "call [+49 (0)30 901820-123] or [+1-212-555-0187]"},
	{"phone", "[+4915112345678], [0049 151 12345678]"},
	{"phone", "ring [(212) 555-0187] today; [212-555-0187]; [212.555.0187]; [1-212-555-0187]"},
	{"phone", "[030 901820-12], [0151/23456789], ([020 7946 0958])"},
	{"phone", "[(030) 9018200], ([030 9018200])"},
	{"phone", "appelez le [06 12 34 56 78] ou [06.12.34.56.78] ou [+33 6 12 34 56 78]"},
	{"phone", "phone number: [5550187]; Tel. [9018203]"},
	{"phone", "my mobile is [5551234567]"},
	{"phone", "Handy [015112345678] und [07123456789]"},
	{"phone", "nbsp [+33\u00a06\u00a012\u00a034\u00a056\u00a078]"},
	{"phone", "我的电话 [13812345678]"},
	{"ipv4", "from [192.168.10.42]:8080 and http://[10.0.0.17]/x, [84.17.3.201]."},
	{"ipv4", "[10.0.0.17]/24 to [10.0.0.19]"},
	{"ipv6", "from [2001:db8::8a2e:370:7334] and [[fe80::1ff:fe23:4567:890a]]:443"},
	{"ipv6", "[2001:0db8:85a3:0000:0000:8a2e:0370:7334]. ::ffff:x [::ffff:192.0.2.128]"},
	{"card", "Visa [4111 1111 1111 1111] exp 12/29, [4111-1111-1111-1111]"},
	{"card", "[4111111111111111] [5555555555554444] [2223003122003222] [6011111111111117]"},
	{"card", "amex [3782 822463 10005] [378282246310005], diners [30569309025904], jcb [3530111333300000]"},
	{"card", "2024 [4111 1111 1111 1111] 123"},
	{"iban", "to [DE89 3704 0044 0532 0130 00] or [GB82WEST12345698765432], [de89370400440532013000]"},
	{"iban", "[FR1420041010050500013M02606] [NO9386011117947] [MT84MALT011000012345MTLCAST001S]"},
	{"iban", "[DE89-3704-0044-0532-0130-00] [DE89.3704.0044.0532.0130.00] [DE89/3704/0044/0532/0130/00], [GB82-WEST-1234-5698-7654-32]"},
	{"iban", "[DE 89 3704 0044 0532 0130 00]; [DE89 370400440532013000]; [DE89 370 400 44 0532013000]; [de89-3704-0044-0532-0130-00]"},
	{"iban", "[DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000] [DE\u200b89370400440532013000]"},
	{"card", "全角 [４１１１　１１１１　１１１１　１１１１] [4111\u200b1111\u200b1111\u200b1111] [4111\u20111111\u20111111\u20111111]"},
	{"us-ssn", "SSN [219-09-9999]; social security number [219099999]; [219 09 9999]"},
	{"de-steuer-id", "IdNr. [86095742719], [86 095 742 719] und [47 036 892 816]"},
	{"fr-nir", "NIR [2 55 08 14 168 025 38], [255081416802538], Corse [1 85 05 2A 004 007 75]"},
	{"gb-nino", "NI [AB 12 34 56 C] or [AB123456C]"},
	{"es-dni", "DNI [12345678Z], [12345678-Z], [12.345.678-Z]"},
	{"es-nie", "NIE [X1234567L] o [X-1234567-L]"},
	{"api-key", `key="[` + "sk-proj-" + `aB3dE6gH9jK2mN5pQ8sT1vW4yZ7]"`},
	{"api-key", "[" + "sk-ant-api03-" + "AbCdEfGhIjKlMnOpQrSt0123-_xyz]"},
	{"api-key", "[AKIAIOSFODNN7EXAMPLE], [" + "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789]"},
	{"api-key", "[" + "xoxb-" + "123456789012-123456789012-abcdefghijklmnopqrstuvwx] [" + "AIza" + "SyA1234567890abcdefghijklmnopqrstuv]"},
	{"api-key", "[" + "hf_" + "QxTbRmKvWzLpNsYhGdFcJaEuIoVtBnMkLq]"}, // letters only
	{"card", "[4111.1111.1111.1111]"},
	{"api-key", "[" + "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc] [" + "hf_" + "abcdefghijklmnopqrstuvwxyz01234567]"},
	{"api-key", "jwt [eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U]."},
	{"api-key", "[" + "SK" + "0123456789abcdef0123456789abcdef] [" + "AC" + "0123456789abcdef0123456789abcdef]"},
	{"api-key", "[" + "glrt-" + "aB3dE6gH9jK2mN5pQ8sT] [" + "glptt-" + "0123456789abcdef0123] [" + "xoxe.xoxp-" + "1-Mi0yLTEyMzQ1Njc4OTAxMg]"},
	{"api-key", "[eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.]"},
	{"api-key", "[eyJhbGciOiJkaXIi.eyJzdWIiOiJhZGEifQ.dozjgNryP4J3jVmN]. [eyJhbGciOiJkaXIifQ..AxY8DCtDaGlsbGljb3RoZQ.KDlTtXchhZTGufMYmOYGS4HffxPSUrfm.U0m_YmjN04DJvceFICbCVQ]"},
	{"secret", "password: [hunter2]; Password: [Tr0ub4dor&3]. The password is [hunter2], ok? das Passwort lautet [Xy7kkq]"},
	{"secret", "the password for the router is [Xy7kkq]; password for ada: [Xy7kkq]; password: [123456]; 密码：[hunter22]"},
	{"secret", "passwd=[hunter2] pwd: [hunter2] secret=[abcd1234efgh] api key: [4f9a8c7e6b5d4c3b2a19] x-api-key: [abcd1234efgh]"},
	{"secret", "DB_PASSWORD=[letmein]\nexport API_KEY=[abcDEFghiJKLmno]\npassword=[letmein]\nmysql --password=[letmein] -u root"},
	{"secret", "AWS_SECRET_ACCESS_KEY=[wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY]\naws_secret_access_key = [wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY]"},
	{"secret", "Server=db;Database=x;User Id=sa;Password=[Secr3t!x];Encrypt=yes; Uid=sa; Pwd=[letmein];"},
	{"secret", "AccountName=x;AccountKey=[Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==];EndpointSuffix=core.example"},
	{"secret", "SharedAccessKeyName=x;SharedAccessKey=[Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ=] sv=2022-11-02&sr=b&sig=[abc%2Fdef123456789%3D]"},
	{"secret", `say "client_secret": "[abcdefghijk]" or access_token = '[abcd1234efgh]', {\"password\": \"[letmein]\"} GITHUB_TOKEN=[abcd1234efgh]`},
	{"secret", "<password>[letmein]</password><user>ada</user> <db:passwd>[a1b2c3]</db:passwd> Subscription-Key: [abcd1234efgh]"},
	{"secret", "password: [password123]; token=[45ghiukldjahdnhzdauz]&token_type_hint=refresh_token"},
	{"bearer", "Authorization: Basic [dXNlcjpwYXNz]"},
	{"private-key", `"private_key": "[-----BEGIN PRIVATE KEY-----\nMIIEvQ/+=\n-----END PRIVATE KEY-----]\n", "client_id"`},
	{"bearer", "Authorization: Bearer [4f9a8c7e6b5d4c3b2a19]"},
	{"bearer", `"authorization": "Basic [YWRhOnNlY3JldDEyMw==]"`},
	{"url-credentials", "postgres://[ada:s3cret]@db.example.org:5432/x?sslmode=on"},
	{"url-credentials", "https://example.org/x?id=7&access_token=[abcdef123456]&y=2#top"},
	{"url-credentials", "https://[ghtoken0123456789abcdef]@example.org/x.git"},
	{"private-key", "key:\n[-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\n-----END RSA PRIVATE KEY-----]\nend"},
	{"private-key", `{"k": "[-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----]\n"`},
}

// marks removes the brackets and returns the ranges that they held. "[[" is a
// bracket of the text and the beginning of a mark.
func marks(text string) (plain string, want []string) {
	var out strings.Builder
	text = strings.ReplaceAll(text, "[[", "\x00\x01")
	start := -1
	for _, c := range []byte(text) {
		switch {
		case c == '\x00':
			out.WriteByte('[')
		case (c == '[' || c == '\x01') && start < 0:
			start = out.Len()
		case c == ']' && start >= 0:
			want = append(want, out.String()[start:])
			start = -1
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), want
}

func TestFindings(t *testing.T) {
	s := mustNew(t, Options{})
	seen := map[string]bool{}
	for _, tc := range findings {
		seen[tc.rule] = true
		plain, want := marks(tc.text)
		var got []string
		for _, sp := range s.find(plain) {
			got = append(got, plain[sp.lo:sp.hi])
			if sp.rule != tc.rule {
				t.Errorf("%s: %q was found by %s", tc.rule, got[len(got)-1], sp.rule)
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s in %q:\n got %q\nwant %q", tc.rule, plain, got, want)
		}
	}
	for _, r := range Rules() {
		if !seen[r.Name] {
			t.Errorf("rule %s has no case", r.Name)
		}
	}
}

// Each rule finds its own example, and its placeholder has the usual form.
func TestExamples(t *testing.T) {
	for _, r := range Rules() {
		var off []string
		for _, other := range Rules() {
			if other.Name != r.Name {
				off = append(off, other.Name)
			}
		}
		n := mustNew(t, Options{Off: off}).Session()
		out := n.Text(r.Example)
		if n.Counts()[r.Name] != 1 || !strings.Contains(out, "<"+r.Type+"_1>") || !placeholderForm.MatchString("<"+r.Type+"_1>") {
			t.Errorf("%s: %q became %q", r.Name, r.Example, out)
		}
	}
}

// What only looks like personal data.
var harmless = []string{
	// versions and sections
	"version 1.2.3.44, v10.20.30.40, release 10.20.30.40, go1.26.8, Chrome/120.0.6099.109 Safari/537.36.10.12",
	"see 1.2.3.4 and 5.6.7.8; pkg-10.2.30.4-beta; torch==2.10.11.12; 1.2.3.4.5.6; build 10.0.19045.3803; 10.0.22.1+cu12",
	"127.0.0.1, 0.0.0.0, 255.255.255.0, 300.12.12.12, 01.02.03.04",
	// hashes and UUIDs
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 d41d8cd98f00b204e9800998ecf8427e",
	"12345678-1234-1234-1234-123456789012 550e8400-e29b-41d4-a716-446655440000 00000000-0000-0000-0000-000000000000",
	"sha1 4111111111111111411111111111111141111111 commit 4111111a",
	// orders, invoices, isbn, ean
	"order 234-567-8901, order number 212-555-0187, invoice no. 219-09-9999, #2125550187, ORD-4111111111111111",
	"Bestellnummer 4111111111111111, Bestellung 030 1234567, ISBN 978-3-16-148410-0, EAN 4006381333931",
	"112-1234567-1234567 and 302-7654321-7654321; SKU 06 12 34 56 78; ticket 0151-23456789; 4500012345",
	"https://shop.example/orders/4111111111111111/items/2125550187",
	// dates and times
	"2024-01-15, 2024-01-15T10:20:30.123456789Z, 15.01.2024, 01/15/2024, 01-02-2024 1030, 01.02.2024-05.02.2024",
	"1700000000 1700000000123 20240115103000 12:30:45 09:00-17:00 2023/2024 01/02/2024 10:30",
	// numbers
	"1,234,567,890 3.14159265358979 0.4111111111111111 4111111111111111.5 $2125550187 1e10 10 000 000 100.000.000,00",
	"234 567 8901 345 112; 012 034 056 078; 01 02 03 04 05; 1 2 3 4 5 6 7 8 9 10 11 12; 2345678901; -2125550187",
	"5105105105105101 4111111111111112 0000 0000 0000 0000 1234 5678 9012 3456", // no check digit
	"DE89 3704 0044 0532 0130 01 XX89370400440532013000 GB82WEST1234569876543",
	"000-12-3456 666-12-3456 912-12-3456 123-00-4567 123-45-0000 219099999",
	"12345678901 86095742718 11111111111 255081416802539 355091416802538",
	"BG123456A AB123456E DF123456A QQ123456C 12345678A X1234567A 123456789Z",
	// hardware, times, code
	"aa:bb:cc:dd:ee:ff 00:11:22:33:44:55:66:77 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
	"std::vector dead::beef abc::def Foo::Bar ::1 :: a::b x ? 1:2 : 3:4",
	"@app.route('/x') user@localhost git@github.com:org/repo.git icon@2x.png W@x.transpose() lodash@4.17.21 a @ b",
	"f(5551234567) x=[2125550187, 3105550187] a-b+1234567890 @@ -10,7 +12345678,9 @@",
	"#define MAX 4111111111111111UL 0x4111111111111111 foo_4111111111111111 1_000_000_000",
	"https://example.org/@ada.lovelace https://medium.example/@ada/post?token_count=1234567 ssh://git@example.org/x",
	"https://${USER}:${PASSWORD}@example.org http://user:{password}@host http://u:<password>@h token=%s",
	"sk-learn-some-very-long-package-name sk-2024-annual-report-of-everything task-force-of-many-words-12345678901234567890",
	"bearer of good news, Bearer authentication-scheme Bearer <token> Bearer $TOKEN Bearer {access_token}",
	"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY----- -----BEGIN CERTIFICATE-----\nMIIB",
	"the tool call 12345678 was called 1234567 times; section 10.20.30.40; step 1: 2 + 2",
	// secrets that are none
	"password: required field; Password: must be at least 8 characters; password: 8-16 characters; password: string; password reset: see 4.2.1",
	"password: SHA256-hashed; api key: OAuth2.0; the password is case-sensitive; the secret is simple: 3 steps; private key is 2048-bit; secret: v1.2.3",
	"password = get_password(); password=os.environ[\"DB_PASSWORD\"]; self.password = password; connect(host=h, password=config); login(u, password=passwd)",
	"password: ${DB_PASSWORD} PASSWORD=$1 password=<your password> password: ******** password: xxxxxxxx PASSWORD=required API_KEY=your_api_key",
	"password: str = None; password: Optional[str]; if password == \"x1y2z3w4\":; password != hunter2; password::hunter2; secret => null",
	"token: BERT-base max_tokens=4096, token=12, tokens: 1024 token_type=bearer token: hello2 token: 12345678 token count: 12345678 next token: world2",
	"secret: true, secret sauce: 3 tomatoes, secret santa: 2024-12-24, public key: abc123def456, primary key: id1234, sort key=name12, key: value1",
	"password_hash: e3b0c44298fc1c149afbf4c8996fb92427ae41e4 PWD=/home/ada/project1 pwd: ~/x1 passwords: 2024 edition api key: https://docs.example/x1",
	`"password": "Please enter 8 characters", "type": "password", "secret": "required", "password": "string" <input type="password" name="pw1">`,
	"Passwort: siehe Anhang 3, mot de passe: voir page 12, contraseña: obligatoria, the key is abc123, zip code: AB12345",
	// other forms of digits and marks
	"版本１．２．３ 订单号４５００　日期２０２４－０１－１５ ISBN ９７８－３－１６－１４８４１０－０ 价格￥１２３４５６７８９０ x² m³ ①②③④⑤⑥⑦⑧⑨⑩",
	"pages 212–555, 2019–2024, 09:00–17:00, −2125550187, 1\u00a0234\u00a0567\u00a0890, 10\u202f000\u202f000, 👨\u200d👩\u200d👧 1\ufe0f\u20e3",
	"联系 @张三 和 @李四. 请看 user@主机 的配置, 版本@2.0, Basic authentication, Authorization: Basic authentication",
	"AT 20 1234 5678 9012 3456 DE89-3704-0044-0532-0130-01 NO 12-34-56 GB82-WEST-1234-5698-7654-33 in de 12 3456 7890 1234 5678 90",
	"139-1234-567 121-1234-5678 (1) 2345-6789 (11) 18765-4321 7 (495) 123-45-67 order 138-1234-5678 212-555-018x23 (0) 30 901820 5.5x12",
	"0.0424828809603411 -00345678.5432 0.0999999999999 0 0 1 2 127 128 253 00 30 81 89 02 81 2 0.02 100000000",
	"<password>required</password> <password>two words</password> <p>password</p> a>b1c2d3 password>a1b2c3 <secret>$X</secret> <secret><x/></secret>",
	"PrivateKey: testRSA2048PrivateKey, authToken = newTestToken2Key &quot;Password is incorrect.&quot;",
	"<EMAIL_1> <PHONE_2> <API_KEY_1> <> <a> 5 < 6",
}

func TestHarmless(t *testing.T) {
	s := mustNew(t, Options{})
	for _, text := range harmless {
		for _, sp := range s.find(text) {
			t.Errorf("%s found %q in %q", sp.rule, text[sp.lo:sp.hi], text)
		}
	}
}

func TestOptions(t *testing.T) {
	text := "12345678Z, 219-09-9999, ada@example.org, K-77 and K-78"
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{}, "<ES_DNI_1>, <US_SSN_1>, <EMAIL_1>, K-77 and K-78"},
		{Options{Off: []string{"email", "us-ssn"}}, "<ES_DNI_1>, 219-09-9999, ada@example.org, K-77 and K-78"},
		{Options{Countries: []string{"us"}}, "12345678Z, <US_SSN_1>, <EMAIL_1>, K-77 and K-78"},
		{Options{Countries: []string{"none"}}, "12345678Z, 219-09-9999, <EMAIL_1>, K-77 and K-78"},
		{Options{Custom: []Custom{{"CUSTOMER", `K-(\d+)`}}}, "<ES_DNI_1>, <US_SSN_1>, <EMAIL_1>, K-<CUSTOMER_1> and K-<CUSTOMER_2>"},
		{Options{Custom: []Custom{{"ORG", `example\.\w+`}}}, "<ES_DNI_1>, <US_SSN_1>, ada@<ORG_1>, K-77 and K-78"},
	} {
		if got := mustNew(t, tc.o).Session().Text(text); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.o, got, tc.want)
		}
	}
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{Off: []string{"mail"}}, `there is no rule "mail"; rules: private-key,`},
		{Options{Countries: []string{"xx"}}, `no national id of country "xx" is known; countries: de, es, fr, gb, us, none`},
		{Options{Custom: []Custom{{"x", `a`}}}, `name "x" of a pattern cannot be a placeholder`},
		{Options{Custom: []Custom{{"X", `(`}}}, "pattern X: error parsing regexp"},
		{Options{Custom: []Custom{{"X", `a*`}}}, "pattern X matches the empty text; use + instead of *"},
	} {
		if _, err := New(tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %s", tc.o, err, tc.want)
		}
	}
}
