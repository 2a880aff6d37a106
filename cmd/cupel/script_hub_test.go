package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cupel-dev/cupel/stages/pin/hub/hubtest"
)

// hubCommands are:
//
//	hub                  start a hub with one repository, org/model; set $hub, $commit, $token
//	hub fail FAULT N     N times; -1 = always (hubtest lists the faults)
//	hub add PATH TEXT    one more file
//	hub asked N          that many requests for files since the last look
//	registry             start an image registry with org/engine; set $registry, $index, $amd64
var hubCommands = map[string]command{
	"hub":      simple(0, 3, cmdHub),
	"registry": simple(0, 0, cmdRegistry),
}

type hubKey struct{}

// weights are larger than one write.
var weights = bytes.Repeat([]byte("weights of a model\n"), 50_000)

func newHub() *hubtest.Hub {
	return hubtest.New(
		hubtest.File{Path: "README.md", Content: []byte("# A model\n")},
		hubtest.File{Path: "config.json", Content: []byte(`{"layers": 2}`)},
		hubtest.File{Path: "model.safetensors", Content: weights, LFS: true},
		hubtest.File{Path: "sub/tokenizer.json", Content: []byte("{}")},
	)
}

func cmdHub(ts *testscript.TestScript, args []string) {
	if len(args) == 0 {
		h := newHub()
		ts.Defer(h.Close)
		ts.Value(hubKey{}).(*hubHolder).hub = h
		ts.Setenv("hub", h.URL)
		ts.Setenv("commit", hubtest.Commit)
		ts.Setenv("token", hubtest.Token)
		return
	}
	h := ts.Value(hubKey{}).(*hubHolder).hub
	switch args[0] {
	case "fail":
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		h.Fail(args[1], n)
	case "add":
		h.Do(func() {
			h.Files = append(h.Files, hubtest.File{Path: unescape(ts, args[1]), Content: []byte(unescape(ts, args[2]))})
		})
	case "asked":
		want, err := strconv.Atoi(args[1])
		ts.Check(err)
		log := slices.DeleteFunc(h.Look(), func(s string) bool { return !strings.Contains(s, "/resolve/") })
		if len(log) != want {
			ts.Fatalf("%d requests for files, want %d: %v", len(log), want, log)
		}
	default:
		ts.Fatalf("a hub cannot %s", args[0])
	}
	if leaks := h.Leaks(); len(leaks) > 0 {
		ts.Fatalf("the token went to another server: %v", leaks)
	}
}

// hubHolder lets a command hand a hub to the next one.
type hubHolder struct{ hub *hubtest.Hub }

func cmdRegistry(ts *testscript.TestScript, _ []string) {
	reg := ocimem.New()
	s := httptest.NewServer(ociserver.New(reg, nil))
	ts.Defer(s.Close)
	push := func(tag, mediaType, doc string) string {
		d, err := reg.PushManifest(context.Background(), "org/engine", tag, []byte(doc), mediaType)
		ts.Check(err)
		return string(d.Digest)
	}
	config := ociregistry.Descriptor{MediaType: "application/vnd.oci.image.config.v1+json", Digest: "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", Size: 2}
	_, err := reg.PushBlob(context.Background(), "org/engine", config, strings.NewReader("{}"))
	ts.Check(err)
	const manifest, index = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json"
	amd64 := push("one", manifest, `{"schemaVersion":2,"mediaType":"`+manifest+`","config":{"mediaType":"`+config.MediaType+`","digest":"`+string(config.Digest)+`","size":2},"layers":[]}`)
	all := push("v1", index, `{"schemaVersion":2,"mediaType":"`+index+`","manifests":[{"mediaType":"`+manifest+`","digest":"`+amd64+`","size":2,"platform":{"os":"linux","architecture":"amd64"}}]}`)
	ts.Setenv("registry", strings.TrimPrefix(s.URL, "http://"))
	ts.Setenv("amd64", amd64)
	ts.Setenv("index", all)
}
