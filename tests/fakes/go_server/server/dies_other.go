//go:build !linux

package server

import "syscall"

func dies() *syscall.SysProcAttr { return nil }
