//go:build !linux

package claims

import "context"

func readUnderPressure(context.Context, *pressureRequest) (byBlock, error) { return nil, errOnlyLinux }

func workBesideReaders(context.Context, *pressureRequest) (byBlock, error) { return nil, errOnlyLinux }

func enterGroup(*pressureRequest, int) (leave func() error, err error) { return nil, errOnlyLinux }

func leaveGroup(*pressureRequest) error { return nil }
