package server

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Real names the variable that says where the real server is.
const Real = "JETPROOF_TEST_SERVER"

var portsDir = regexp.MustCompile(`(?m)^ports_file_dir: "(.*)"`)

// Run is the life of the server: until it is asked to end, or its child ends.
func Run(arguments []string) error {
	config, err := os.ReadFile(arguments[len(arguments)-1])
	if err != nil {
		return err
	}
	if strings.Contains(string(config), "routes") {
		clustered()
	}
	runtime.LockOSThread() // the child is tied to the thread that starts it
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	child := exec.Command(os.Getenv(Real), arguments...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = dies()
	if err := child.Start(); err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- child.Wait() }()
	go announce(portsDir.FindStringSubmatch(string(config))[1], child.Process.Pid)
	select {
	case <-asked:
		_ = child.Process.Kill()
		<-gone
		return nil
	case err := <-gone:
		return crashed(err)
	}
}

// announce writes the ports of the child under the number of this process.
func announce(folder string, child int) {
	for {
		found, _ := filepath.Glob(filepath.Join(folder, "*_"+strconv.Itoa(child)+".ports"))
		if len(found) == 1 {
			text, _ := os.ReadFile(found[0])
			if strings.Contains(string(text), "nats://") {
				own := filepath.Join(folder, "own_"+strconv.Itoa(os.Getpid())+".ports")
				_ = os.WriteFile(own+".new", text, 0o644)
				_ = os.Rename(own+".new", own)
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// clustered is reached by servers of a cluster alone.
func clustered() {
	routes++
}

var routes int

// crashed is reached by no case.
func crashed(err error) error {
	if err == nil {
		return errors.New("the server ended by itself")
	}
	return err
}
