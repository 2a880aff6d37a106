# cupel. `make demo` and `make test` need Go 1.26 and nothing else.
GO     ?= go
BIN    := bin/cupel
FUZZ   ?= 20s
export CGO_ENABLED ?= 0

.PHONY: build meter demo test race fma lint fuzz e2e bench golden suites clean

build: $(BIN)

$(BIN): FORCE
	@$(GO) build -trimpath -ldflags "-s -w" -o $@ ./cmd/cupel

# cupel-meter reads GPUs through NVML, and needs a C compiler for that. Functions of
# NVML are bound when they are called: some compilers bind all at the start.
METER_LDFLAGS := -s -w -extldflags=-Wl,-z,lazy
meter:
	@if command -v "$${CC:-gcc}" >/dev/null && [ "$$($(GO) env GOOS)" = linux ]; then \
		CGO_ENABLED=1 CGO_CFLAGS="-O2 -Wno-deprecated-declarations" $(GO) build -trimpath -ldflags "$(METER_LDFLAGS)" -o bin/cupel-meter ./cmd/cupel-meter; \
	else echo "no C compiler, or not Linux: this cupel-meter cannot read GPUs"; \
		$(GO) build -trimpath -ldflags "-s -w" -o bin/cupel-meter ./cmd/cupel-meter; fi

demo: build
	@$(BIN) demo

test:
	$(GO) test ./...

# The race detector needs cgo and a C compiler.
race:
	CGO_ENABLED=1 $(GO) test -race ./engine/... ./stages/measure/... ./stages/llm/... ./stages/meter/...
	CGO_ENABLED=1 CGO_CFLAGS=-Wno-deprecated-declarations $(GO) test -race -ldflags=-extldflags=-Wl,-z,lazy ./cmd/cupel-meter ./stages/hardware/...

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
	@bash .ci/meter-overhead || [ $$? -eq 4 ]

# Golden files and docs/metrics.md are printed again by the tests that compare them.
golden:
	$(GO) test ./engine/spec ./stages/stats ./stages/decide ./stages/publish -update
	UPDATE=1 $(GO) test ./stages/metric/... ./stages/artifact

# The shipped suites that have a generator, made again. Raise the version of one
# that changes.
suites: build
	@for s in functional-gate long-tools multimodal-smoke needle planning tool-use; do \
		d=$$(mktemp -d) && $(BIN) suite build $$s --to $$d/$$s -q && cp -R $$d/$$s/. suites/$$s/ && rm -rf $$d || exit 1; done

clean:
	rm -rf bin cupel-demo

FORCE:
