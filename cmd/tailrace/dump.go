package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tailrace/harness"
	"tailrace/segment"
)

const dumpLong = `Show what the log in a directory holds: its state, its segments, each batch, and
the entries of the indexes. It works on a log that Kafka wrote, too; compressed
records are not decoded. A FILE is one .log (under any name), .index or
.timeindex, or the recovery-point or clean file of a partition.

Nothing is changed, created or locked. A partition that is in use may look
unfinished: what is being written then is read half written.

--verify compares everything with everything instead, and stops at the first
fault: it says file, byte, what is wrong there, and what that means.

--json prints a JSON object per line. Numbers are numbers, keys and values are
base64 or null, timestamps are milliseconds since 1970. Each has a type:

  directory  path, format (tailrace, other), log_start, log_end, segments,
             clean, recovery_point, index_interval, other_files
  segment    file, base_offset, end_offset, size, valid, allocated, batches,
             records, first_timestamp, last_timestamp, max_timestamp,
             index, time_index (each file, format, size, entries)
  batch      file, position, size, magic, base_offset, last_offset, records,
             base_timestamp, max_timestamp, timestamp_type, compression,
             transactional, control, leader_epoch, producer_id,
             producer_epoch, base_sequence, crc, crc_ok
  record     file, position (of its batch), offset, timestamp, key, value,
             headers (each key, value)
  index      file, position, format, offset, log_position
  timeindex  file, position, format, timestamp, offset
  slot       file, position, of, valid, counts, sequence, base_offset,
             log_position, offset
  clean      file, position, index_interval, base_offset, end_offset, size,
             max_timestamp, index_crc, timeindex_crc
  fault      file, position, problem, effect (damage, dropped, kept, rebuilt,
             reread, removed, refused, unknown), meaning
  verified   segments, batches, records, bytes

Exit code 1 means that --verify has found a fault, or that a log holds bytes that
are no batch, behind which nothing of it is shown. A bad checksum alone is shown
in its place, and is no failure without --verify. Exit code 2 means that something
can't be read, or the output can't be written.`

const dumpExample = `  tailrace dump /var/lib/kafka/orders-0
  tailrace dump --verify data
  tailrace dump --records data/00000000000000000000.log
  tailrace dump --json data | jq -c 'select(.type == "batch" and .crc_ok == false)'`

// dumpFormat writes what a dump finds.
type dumpFormat interface {
	item(segment.Item) error
	verified(segment.Verified) error
}

func newDump() *cobra.Command {
	var records, asJSON, verify bool
	cmd := &cobra.Command{
		Use:                   "dump DIR|FILE [flags]",
		Short:                 "Show or verify the files of a log",
		Long:                  dumpLong,
		Example:               dumpExample,
		Args:                  onePath,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if verify && records {
				return usagef("--records: --verify shows no records; give either")
			}
			storage, file, err := openDump(args[0])
			if err != nil {
				return err
			}
			out := bufio.NewWriter(streamed(cmd.OutOrStdout()))
			if verify { // what it finds is known, whether somebody reads it or not
				out = bufio.NewWriter(cmd.OutOrStdout())
			}
			format := newDumpFormat(out, args[0], asJSON, records)
			options := segment.InspectOptions{File: file, Records: records}
			if verify {
				err = verifyDump(cmd.Context(), storage, options, format, asJSON)
			} else {
				err = showDump(cmd.Context(), storage, options, format)
			}
			written := out.Flush()
			if errors.Is(err, written) {
				written = nil // it was found while writing, and is said once
			}
			return errors.Join(err, written, storage.Close())
		},
	}
	cmd.Flags().BoolVar(&records, "records", false, "show each record, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object per line instead of tables")
	cmd.Flags().BoolVar(&verify, "verify", false, "check everything, and say no more than the first fault")
	return cmd
}

func newDumpFormat(w io.Writer, path string, asJSON, records bool) dumpFormat {
	if asJSON {
		return newJSONDump(w, path)
	}
	return &textDump{w: w, path: path, records: records}
}

// openDump opens the directory of what is to be dumped; file is "" for all of it.
func openDump(path string) (storage *segment.Dir, file string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", usageError{err}
	}
	dir := path
	switch {
	case info.IsDir():
	case info.Mode().IsRegular():
		dir, file = filepath.Split(path)
		dir = filepath.Clean(dir)
	default:
		return nil, "", usagef("%s: neither a directory nor a file", path)
	}
	if storage, err = segment.OpenDirReadOnly(dir); err != nil {
		return nil, "", usageError{err}
	}
	return storage, file, nil
}

func showDump(ctx context.Context, storage segment.Storage, o segment.InspectOptions, format dumpFormat) error {
	err := segment.Inspect(ctx, storage, o, format.item)
	var fault *segment.Fault
	if errors.As(err, &fault) {
		return fmt.Errorf("%w; what follows in that file is not shown", err)
	}
	return plainError(err)
}

func verifyDump(ctx context.Context, storage segment.Storage, o segment.InspectOptions, format dumpFormat, asJSON bool) error {
	sound, err := segment.Verify(ctx, storage, o)
	var fault *segment.Fault
	switch {
	case err == nil:
		return format.verified(sound)
	case errors.As(err, &fault) && asJSON:
		return errors.Join(format.item(fault), err)
	default:
		return plainError(err)
	}
}

// plainError makes a usage error of what a better path would mend, and words an interruption as others do.
func plainError(err error) error {
	if errors.Is(err, context.Canceled) {
		return harness.ErrInterrupted
	}
	if errors.Is(err, segment.ErrNoLog) || errors.Is(err, fs.ErrPermission) {
		return usageError{err}
	}
	return err
}

func onePath(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 1:
		return nil
	case 0:
		return usagef("dump: no path given; give the directory of a log, or one of its files")
	default:
		return usagef("dump: %d paths given; give one directory or file", len(args))
	}
}
