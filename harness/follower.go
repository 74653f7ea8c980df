package harness

import "context"

// follower fetches all of one partition as one of its replicas, until the run ends. It is part of the
// load and not measured: what it costs the others is what replication costs.
func (w *worker) follower(c *client, replica int) error {
	for {
		if done, err := waited(c.handle.WaitLogEnd(w.run.ctx, c.position)); done || err != nil {
			return err
		}
		before := c.position
		if err := w.follow(c, replica); err != nil {
			return err
		}
		if c.position == before && !w.run.strategy.StoresNothing {
			return violationf("fetch of replica %d: nothing at offset %d, which is below the log end", replica, before)
		}
	}
}

// follow fetches up to the log end.
func (w *worker) follow(c *client, replica int) error {
	for {
		p, err := c.handle.Fetch(replica, c.position, w.buf)
		if err != nil {
			return violationf("fetch of replica %d: %v", replica, err)
		}
		if len(p) == 0 {
			return nil
		}
		if c.position, err = c.checker.answer(p, c.position, true, nil); err != nil {
			return err
		}
	}
}

// catchUp lets the followers fetch the prefill before the load begins: until then nobody may read it.
func (r *run) catchUp(followers []func() error) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nobody waits for more
	r.ctx = ctx
	for _, follow := range followers {
		if err := follow(); err != nil {
			return err
		}
	}
	return nil
}
