# cupel. `make demo` and `make test` need Go 1.26 and nothing else.
GO     ?= go
BIN    := bin/cupel
FUZZ   ?= 20s
export CGO_ENABLED ?= 0

.PHONY: build demo test race fma lint fuzz e2e bench golden clean

build: $(BIN)

$(BIN): FORCE
	@$(GO) build -trimpath -ldflags "-s -w" -o $@ ./cmd/cupel

demo: build
	@$(BIN) demo

test:
	$(GO) test ./...

# The race detector needs cgo and a C compiler.
race:
	CGO_ENABLED=1 $(GO) test -race ./engine/... ./stages/measure/... ./stages/llm/...

# The statistics are bit-exact also where the compiler may fuse a multiplication
# with an addition; skipped on processors that cannot.
fma:
	@if grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -qw fma /proc/cpuinfo; then \
		echo "GOAMD64=v3 $(GO) test ./stages/stats"; GOAMD64=v3 $(GO) test ./stages/stats; \
	else echo "no FMA here: skipped"; fi

lint:
	$(GO) vet ./...
	@test -z "$$(gofmt -l cmd engine stages schemas suites pipelines)" || { gofmt -l cmd engine stages schemas suites pipelines; exit 1; }
	$(GO) test -run 'TestImportRules' ./cmd/cupel

# Every fuzz target for FUZZ.
fuzz:
	@GO=$(GO) FUZZ=$(FUZZ) bash .ci/fuzz

# The quickstart campaign on a real Ollama, built once and cached outside the tree.
e2e: build
	@bash .ci/e2e

# Benchmarks, the client against a server of known timing (exit code 3: the
# machine was too busy to tell), and the client beside public load generators.
bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./...
	$(BIN) overhead || [ $$? -eq 3 ]
	@GO=$(GO) bash .ci/overhead

# Golden files and docs/metrics.md are printed again by the tests that compare them.
golden:
	$(GO) test ./engine/spec ./stages/stats ./stages/decide ./stages/publish -update
	UPDATE=1 $(GO) test ./stages/metric ./stages/artifact

clean:
	rm -rf bin cupel-demo

FORCE:
