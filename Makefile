.PHONY: sweep build test race check bench clean

# The default sweep and its report, out/latest/report.html.
sweep: build
	./bin/tailrace run

build:
	go build -o bin/tailrace ./cmd/tailrace

test:
	go vet ./...
	go test ./...

# Without plots: it starts no goroutine, and drawing takes minutes under the detector; and without the planted
# bugs, which are built anew.
race:
	go test -race ./cmd/... ./harness ./results/... ./segment/... ./strategies ./workload
	go test -race -short ./harness/torture

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
