// Package kit speaks the adapter protocol of Jetproof (docs/adapters.md), so that an adapter is no more than a table of
// calls into its library.
//
// An operation ends with what the library returned, or with what was raised: Check and Must raise the library's errors,
// Unsupported what the library has no API for. A library that panics is told as an error of the type "panic".
package kit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Adapter is what there is to know of a library; On and Option add what can be done with it.
type Adapter struct {
	Modules     []string             // Go modules whose versions are told, the library's own first
	Claims      map[string]int       // the revision of each specification that the library says it implements
	ErrorNames  map[error]string     // error variables of the library by name: the command names writes them
	ErrorFields func(err error) Body // code, err_code, status, description, if the library offers them as fields
	Arguments   []any                // functions that make an argument of a type from a call: func(*Call) T

	operations map[string][]operation
	options    []option
	sources    map[reflect.Type]source
	current    atomic.Pointer[session]
	named      atomic.Int64
	writing    sync.Mutex
	output     *json.Encoder
}

// session is a connection, and everything that was opened on it.
type session struct {
	connection any
	hangUp     func()
	things     sync.Map
}

type (
	unsupported string
	notOpen     string
	raised      struct{ error }
)

// Serve answers calls until standard input ends, each as soon as it can be: a slow one holds up no other.
func (a *Adapter) Serve() {
	a.output = json.NewEncoder(os.Stdout)
	a.output.SetEscapeHTML(false)
	for input := bufio.NewReader(os.Stdin); ; {
		line, err := input.ReadBytes('\n')
		if err != nil {
			a.close()
			return
		}
		go a.answer(line)
	}
}

func (a *Adapter) answer(line []byte) {
	c := &Call{adapter: a, session: a.current.Load()}
	if err := json.Unmarshal(line, &c.given); err != nil {
		log.Fatalf("this is no call: %v: %s", err, line)
	}
	reply := Body{"id": c.given["id"]}
	defer a.send(reply)
	defer func() {
		switch what := recover().(type) {
		case nil:
		case unsupported:
			reply["unsupported"] = string(what)
		case notOpen:
			reply["error"] = Body{"type": "NotOpen", "text": string(what)}
		case raised:
			reply["error"] = what.error
		default:
			reply["error"] = Body{"type": "panic", "text": fmt.Sprint(what)}
		}
	}()
	reply["ok"] = c.play()
}

func (c *Call) play() Body {
	c.Op = c.Text("op")
	operations := c.adapter.operations[c.Op]
	switch {
	case c.Op == "hello":
		return c.adapter.hello()
	case c.Op == "close":
		c.adapter.close()
		return nil
	case operations == nil:
		Unsupported("no API for " + c.Op)
	case c.Op == "connect" && c.session != nil:
		Unsupported("no second connection at a time")
	case c.Op == "connect":
		c.session = &session{}
	case c.session == nil:
		panic(notOpen("not connected"))
	}
	defer c.release()
	return c.fitting(operations).play(c)
}

func (a *Adapter) close() {
	if s := a.current.Load(); s != nil {
		s.hangUp()
		a.current.CompareAndSwap(s, nil)
	}
}

func (a *Adapter) send(line Body) {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.write(line)
}

func (a *Adapter) write(line Body) {
	if err := a.output.Encode(a.told(line)); err != nil {
		log.Fatalf("a line cannot be written: %v", err)
	}
}

func (a *Adapter) hello() Body {
	info, _ := debug.ReadBuildInfo()
	parts := map[string]string{}
	for _, module := range info.Deps {
		if slices.Contains(a.Modules, module.Path) {
			parts[shortName(module.Path)] = version(module)
		}
	}
	library := shortName(a.Modules[0])
	capabilities := append(slices.Sorted(maps.Keys(a.operations)), "close")
	return Body{
		"protocol": 1, "library": library, "version": parts[library], "parts": parts,
		"language": "go", "runtime": runtime.Version(), "capabilities": capabilities, "claims": a.Claims,
	}
}

// shortName leaves out where a module is kept: nats.go is github.com/nats-io/nats.go.
func shortName(module string) string {
	parts := strings.SplitN(module, "/", 3)
	return parts[len(parts)-1]
}

// version is that of what was built; a checkout put in a module's place has none.
func version(module *debug.Module) string {
	if module.Replace != nil {
		module = module.Replace
	}
	if module.Version == "" {
		return "(devel)"
	}
	return strings.TrimPrefix(module.Version, "v")
}
