.PHONY: sweep build install reference test race check bench clean

# The default sweep and its report, out/latest/report.html.
sweep: build
	./bin/tailrace run

build:
	go build -buildvcs=auto -o bin/tailrace ./cmd/tailrace

# The program, its manual and what shells complete: sudo make install, or make install PREFIX=$HOME/.local
PREFIX ?= /usr/local
share = $(DESTDIR)$(PREFIX)/share

install: build
	install -d $(DESTDIR)$(PREFIX)/bin $(share)/man/man1 $(share)/bash-completion/completions $(share)/zsh/site-functions $(share)/fish/vendor_completions.d
	install -m 755 bin/tailrace $(DESTDIR)$(PREFIX)/bin/tailrace
	./bin/tailrace man $(share)/man/man1
	./bin/tailrace completion bash > $(share)/bash-completion/completions/tailrace
	./bin/tailrace completion zsh > $(share)/zsh/site-functions/_tailrace
	./bin/tailrace completion fish > $(share)/fish/vendor_completions.d/tailrace.fish

# The reference sweep that the README shows: some ten minutes, on an idle machine. Its latency logs are not committed.
reference: build
	rm -rf results/reference
	./bin/tailrace run --preset full --out results/reference

test:
	go vet ./...
	go test ./...

# Without plots: it starts no goroutine, and drawing takes minutes under the detector; without the planted
# bugs, which are built anew; and without the scripts of the command line, whose sweeps the tests of harness have
# too, and which take seven minutes.
race:
	go test -race -skip 'TestScripts|TestExamples|TestAgainst|TestKillAndResume|TestCompareInCI' ./cmd/...
	go test -race ./harness ./results/... ./segment/... ./strategies ./workload
	go test -race -short ./harness/torture ./claims

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
