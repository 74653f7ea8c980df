package strategies

// Publisher has the owner of an actor publish over and over what it publishes after each change, so that the
// publication can be measured by itself. Publish is for one goroutine at a time.
type Publisher struct {
	actor  *partitionActor
	handle *partitionHandle
}

// OpenPublisher opens a log as actor does, or, if its publications are to copy the list of segments, as actor-plain.
// It takes no appends. The errors are those of opening a log.
func OpenPublisher(o Options, copies bool) (*Publisher, error) {
	a, err := startActor(o, func(a *partitionActor, c *command) {
		if c.kind != looking { // Close sends another
			a.one(c)
			return
		}
		c.claim()
		for range c.offset {
			if copies {
				a.copyList()
			}
			a.publish()
		}
		c.reply()
	})
	if err != nil {
		return nil, err
	}
	return &Publisher{a, a.newHandle()}, nil
}

// Publish returns when the owner has published n times. The error is ErrClosed.
func (p *Publisher) Publish(n int) error {
	c := p.handle.command
	c.kind, c.offset = looking, int64(n)
	return p.handle.ask()
}

// Close closes the log, with the errors of that.
func (p *Publisher) Close() error { return p.actor.Close() }
