.PHONY: sweep build install reference claims claims-long test long race check bench clean

# The default sweep and its report, out/latest/report.html.
sweep: build
	./bin/tailrace run

build:
	go build -buildvcs=auto -o bin/tailrace ./cmd/tailrace

# The program, its manual and what shells complete: sudo make install, or make install PREFIX=$HOME/.local
PREFIX ?= /usr/local
prefix = $(DESTDIR)$(PREFIX)
share = $(prefix)/share

install: build
	install -d "$(prefix)/bin" "$(share)/man/man1" "$(share)/bash-completion/completions" "$(share)/zsh/site-functions" "$(share)/fish/vendor_completions.d"
	install -m 755 bin/tailrace "$(prefix)/bin/tailrace"
	rm -rf bin/share
	./bin/tailrace man bin/share/man
	./bin/tailrace completion bash > bin/share/bash
	./bin/tailrace completion zsh > bin/share/zsh
	./bin/tailrace completion fish > bin/share/fish
	install -m 644 bin/share/man/*.1 "$(share)/man/man1"
	install -m 644 bin/share/bash "$(share)/bash-completion/completions/tailrace"
	install -m 644 bin/share/zsh "$(share)/zsh/site-functions/_tailrace"
	install -m 644 bin/share/fish "$(share)/fish/vendor_completions.d/tailrace.fish"

# The reference sweep that the README shows: some ten minutes, on an idle machine. Its latency logs are not committed.
reference: build
	rm -rf results/reference
	./bin/tailrace run --preset full --out results/reference

# The article's claims on this machine, a quarter of an hour: the source of docs/claims.md.
claims: build
	rm -rf results/claims
	./bin/tailrace claims --out results/claims

# The claims that these loads settle only when they are repeated more often, another quarter of an hour.
claims-long: build
	rm -rf results/claims-long
	./bin/tailrace claims --claim actor-reads,rwmutex-writes-block --blocks 48 --out results/claims-long
	rm -rf results/claims-starves
	./bin/tailrace claims --claim rwmutex-starves --blocks 48 --out results/claims-starves

# Four packages at a time: many tests wait for a clock or for a disk.
test:
	go vet ./...
	go test -short -p 4 ./...

# The tests in full that make test leaves out or shortens, with a program for each planted bug.
long:
	TAILRACE_MUTANTS=all go test ./harness/torture ./plots ./results ./segment ./strategies
	go test -run 'Apart|TestPublication|TestFutexCalls|TestPerformEveryStrategy|TestCompareInCI|TestKillAndResume' ./claims ./harness ./cmd/tailrace

# Without results, plots and workload: they start no goroutine, and simulating and drawing take minutes under the
# detector; without what races on purpose; without what make long builds; and without the scripts of the command line,
# and other tests of its processes, whose sweeps the tests of harness have too, and which take ten minutes.
race:
	go test -race -skip 'TestScripts|TestExamples|TestPlantedFaults|TestKillAndResume|TestCompareInCI|TestStandardOutput|TestDataThatCannot|TestResults|TestUmask' ./cmd/...
	go test -race -short ./harness ./segment/... ./strategies
	go test -race -short -skip 'TestStrategies/busted|TestPublication' ./harness/torture ./claims

check:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not formatted by gofmt: $$unformatted"; exit 1; }
	go vet ./...
	GOOS=linux GOARCH=arm64 go vet ./...
	GOOS=darwin GOARCH=arm64 go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff

bench:
	go test -run '^$$' -bench . ./strategies

# Results, in out, stay.
clean:
	rm -rf bin
