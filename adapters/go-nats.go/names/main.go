// Command names writes what depends on the version of the library: its error variables by name, so that an error can
// be told by the name under which a caller compares it, and an option that is young.
package main

import (
	"fmt"
	"go/build"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const code = `package main

import (
	"context"
	%s
)

var errorNames = map[error]string{
	context.Canceled:         "Canceled",
	context.DeadlineExceeded: "DeadlineExceeded",
%s}

var fetchMaxBytes func(int) jetstream.FetchOpt = %s
`

func main() {
	variable, table, young := regexp.MustCompile(`(?m)^(?:\t|var )(Err\w+)(?: +[\w.]+)? += `), "", "nil"
	for _, path := range os.Args[1:] {
		pkg, err := build.Import(path, ".", 0)
		if err != nil {
			log.Fatal(err)
		}
		for _, file := range pkg.GoFiles {
			source, _ := os.ReadFile(filepath.Join(pkg.Dir, file))
			for _, found := range variable.FindAllSubmatch(source, -1) {
				table += fmt.Sprintf("\t%s.%s: %q,\n", pkg.Name, found[1], found[1])
			}
			if strings.Contains(string(source), "\nfunc FetchMaxBytes(") {
				young = pkg.Name + ".FetchMaxBytes"
			}
		}
	}
	imports := `"` + strings.Join(os.Args[1:], "\"\n\t\"") + `"`
	if err := os.WriteFile("names.go", fmt.Appendf(nil, code, imports, table, young), 0o644); err != nil {
		log.Fatal(err)
	}
}
