// An adapter around nats.go and jetstreamext: a call a line in, what the library made of it a line out.
// This file is the protocol, tables.go what the library has for it, library.go how that is called, values.go what
// goes in and comes out.
package main

//go:generate go run ./names github.com/nats-io/nats.go github.com/nats-io/nats.go/jetstream github.com/synadia-io/orbit.go/jetstreamext

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

type (
	body        map[string]any
	unsupported string          // what the library has no API for
	failure     struct{ error } // what the library returned, on its way to where it is told
	call        struct {
		*session
		given map[string]json.RawMessage
	}
)

var (
	stdout  = json.NewEncoder(os.Stdout)
	writing sync.Mutex
)

func main() {
	stdout.SetEscapeHTML(false)
	for input := bufio.NewReader(os.Stdin); ; {
		line, err := input.ReadBytes('\n')
		if err != nil {
			disconnect()
			return
		}
		go answer(line) // a slow call holds up no other
	}
}

func send(line body) {
	writing.Lock()
	defer writing.Unlock()
	stdout.Encode(line)
}

func answer(line []byte) {
	c := &call{session: current.Load()}
	check(json.Unmarshal(line, &c.given))
	reply := body{"id": c.given["id"]}
	defer send(reply)
	defer func() {
		switch raised := recover().(type) {
		case nil:
		case unsupported:
			reply["unsupported"] = raised
		case failure:
			reply["error"] = describe(raised.error)
		case string:
			reply["error"] = body{"type": "NotOpen", "text": raised}
		default:
			reply["error"] = body{"type": "panic", "text": fmt.Sprint(raised)}
		}
	}()
	op := c.text("op")
	operation, known := operations[op]
	switch {
	case op == "hello":
		reply["ok"] = hello()
		return
	case !known:
		panic(unsupported("no API for " + op))
	case c.session == nil && op != "connect" && op != "close":
		panic("not connected")
	}
	c.allow("id op " + operation.takes)
	reply["ok"] = operation.play(c)
}

// allow refuses what is given and the library's API cannot express.
func (c *call) allow(names string) {
	for name := range c.given {
		if !slices.Contains(strings.Fields(names), name) {
			panic(unsupported("no parameter " + name + " in the library's API"))
		}
	}
}

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func (c *call) has(name string) bool    { return c.given[name] != nil }
func (c *call) text(name string) string { return arg[string](c, name) }

func arg[T any](c *call, name string) (value T) {
	if c.has(name) {
		c.decode(name, &value)
	}
	return value
}

// decode reads a parameter as the type that the library wants.
func (c *call) decode(name string, into any) {
	given := c.given[name]
	if _, large := into.(*uint64); large {
		given = bytes.Trim(given, `"`)
	} else if strings.HasSuffix(name, "_ms") {
		given = append(slices.Clone(given), "000000"...)
	}
	decoder := json.NewDecoder(bytes.NewReader(given))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		panic(unsupported(name + ": " + err.Error()))
	}
}

// opts makes the options of the kind O whose parameters are given.
func opts[O any](c *call, made ...O) []O {
	for _, names := range slices.Sorted(maps.Keys(options)) {
		for _, option := range options[names] {
			maker := reflect.ValueOf(option)
			var args []reflect.Value
			for i, name := range strings.Fields(names) {
				if c.has(name) && maker.Type().Out(0) == reflect.TypeFor[O]() {
					value := reflect.New(maker.Type().In(i))
					c.decode(name, value.Interface())
					args = append(args, value.Elem())
				}
			}
			if len(args) == maker.Type().NumIn() {
				made = append(made, maker.Call(args)[0].Interface().(O))
			}
		}
	}
	return made
}

func hello() body {
	parts := map[string]string{}
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		name := strings.TrimPrefix(strings.TrimPrefix(module.Path, "github.com/nats-io/"), "github.com/synadia-io/")
		if name == "nats.go" || strings.HasPrefix(name, "orbit.go/") {
			parts[name] = strings.TrimPrefix(module.Version, "v")
		}
	}
	return body{
		"protocol": 1, "library": "nats.go", "version": parts["nats.go"], "parts": parts,
		"language": "go", "runtime": runtime.Version(), "capabilities": slices.Sorted(maps.Keys(operations)),
		"claims": map[string]int{"adr-31": 2, "adr-37": 3, "adr-50": 10},
	}
}

func describe(err error) body {
	told := body{"type": nameOf(err), "text": err.Error()}
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) {
		told["code"], told["err_code"], told["description"] = api.Code, api.ErrorCode, api.Description
	}
	return told
}

// nameOf tells the library's variable that an error is or wraps, else its innermost type.
func nameOf(err error) string {
	if reflect.TypeOf(err).Comparable() && errorNames[err] != "" {
		return errorNames[err]
	} else if inner := errors.Unwrap(err); inner != nil {
		return nameOf(inner)
	} else if joined, ok := err.(interface{ Unwrap() []error }); ok {
		first, last := nameOf(joined.Unwrap()[0]), nameOf(joined.Unwrap()[1])
		return map[bool]string{true: first, false: last}[strings.HasPrefix(first, "Err")]
	}
	return reflect.Indirect(reflect.ValueOf(err)).Type().Name()
}
