package server

import "syscall"

// dies makes the kernel end the child with this process, however that ends.
func dies() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
