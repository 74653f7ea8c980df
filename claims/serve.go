package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"tailrace/harness"
)

// serve is the process of an experiment: it reads a request as JSON from stdin, makes the experiment, and writes its
// answer as JSON to stdout. When stdin ends early the parent has died; then, or when the context ends, it calls leave
// and returns, and the process must exit.
func serve[Request, Answer any](
	ctx context.Context, stdin io.Reader, stdout io.Writer,
	check func(*Request) error, perform func(context.Context, *Request) (Answer, error), leave func(*Request) error,
) error {
	decoder := json.NewDecoder(stdin)
	decoder.DisallowUnknownFields()
	request := new(Request)
	err := decoder.Decode(request)
	if err == nil {
		err = check(request)
	}
	if err != nil {
		return fmt.Errorf("claims: request of an experiment: %w", err)
	}
	orphaned := harness.InputEnded(io.MultiReader(decoder.Buffered(), stdin))
	type outcome struct {
		answer Answer
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		answer, err := perform(ctx, request)
		done <- outcome{answer, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return fmt.Errorf("claims: %w", o.err)
		}
		return json.NewEncoder(stdout).Encode(o.answer)
	case <-orphaned:
		return errors.Join(errors.New("claims: the process that made this experiment has ended"), leave(request))
	case <-ctx.Done():
		return errors.Join(errors.New("claims: the experiment was ended by a signal"), leave(request))
	}
}
