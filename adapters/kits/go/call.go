package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Call is one call of Jetproof, with its parameters.
type Call struct {
	Op string

	adapter *Adapter
	session *session
	given   map[string]json.RawMessage
	held    []*thing
}

// thing is what has a name; a call locks what only one may use at a time.
type thing struct {
	value     any
	exclusive bool
	sync.Mutex
}

// Unsupported ends the call: the library has no API for it.
func Unsupported(why string) { panic(unsupported(why)) }

// Check ends the call with the library's error, if there is one.
func Check(err error) {
	if err != nil {
		panic(raised{err})
	}
}

// Must ends the call with the library's error, if there is one, and hands the value on.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Has tells whether a parameter is given.
func (c *Call) Has(name string) bool { return c.given[name] != nil }

// Text is a parameter that is a text, "" if it is not given.
func (c *Call) Text(name string) string { return Arg[string](c, name) }

// Data is the payload of the message to send.
func (c *Call) Data() []byte { return Arg[[]byte](c, "data") }

// Headers are those of the message to send, the values of a name in their order; never nil.
func (c *Call) Headers() map[string][]string {
	headers := map[string][]string{}
	for _, pair := range Arg[[][2]string](c, "headers") {
		headers[pair[0]] = append(headers[pair[0]], pair[1])
	}
	return headers
}

// Context ends after timeout_ms, counted from now, if that is given, and else never.
func (c *Call) Context() context.Context {
	if !c.Has("timeout_ms") {
		return context.Background()
	}
	ctx, cancel := context.WithTimeout(context.Background(), Arg[time.Duration](c, "timeout_ms"))
	context.AfterFunc(ctx, cancel)
	return ctx
}

// Arg is a parameter as the type that the library wants, its zero value if it is not given. 64-bit numbers are read
// from their digits, durations from the milliseconds of a name that ends in _ms. What the type cannot express (an
// unknown field of a struct, say) is unsupported.
func Arg[T any](c *Call, name string) (value T) {
	if c.Has(name) {
		c.read(name, reflect.ValueOf(&value).Elem())
	}
	return value
}

func (c *Call) read(name string, into reflect.Value) {
	decode := func(text []byte, into any) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			Unsupported(name + ": " + err.Error())
		}
	}
	given := c.given[name]
	switch {
	case into.Kind() == reflect.Uint64:
		decode(bytes.Trim(given, `"`), into.Addr().Interface())
	case strings.HasSuffix(name, "_ms"):
		var milliseconds int64
		decode(given, &milliseconds)
		into.SetInt(milliseconds * int64(time.Millisecond))
	default:
		decode(given, into.Addr().Interface())
	}
}

// Each makes something of every object in a parameter that is a list of them, which are read as calls are; takes are
// the names that they may have.
func Each[T any](c *Call, name, takes string, make func(*Call) T) (made []T) {
	for _, given := range Arg[[]map[string]json.RawMessage](c, name) {
		one := &Call{Op: c.Op, adapter: c.adapter, session: c.session, given: given}
		if unknown := one.unknown(strings.Fields(takes)); unknown != "" {
			Unsupported("no parameter " + unknown + " in the library's API")
		}
		made = append(made, make(one))
	}
	return made
}

// Connected makes a connection the one that is open; hangUp closes it, and returns when that has been told.
func (c *Call) Connected(connection any, hangUp func()) {
	c.session.connection, c.session.hangUp = connection, hangUp
	c.adapter.current.Store(c.session)
}

// Connection is what was given to Connected.
func Connection[T any](c *Call) T { return c.session.connection.(T) }

// Keep gives something that was opened the name that the call has for it (as).
func (c *Call) Keep(value any) { c.session.things.Store(c.Text("as"), &thing{value: value}) }

// KeepExclusive is Keep for what the library lets no two use at once: a call on it waits until no other is under way.
func (c *Call) KeepExclusive(value any) {
	c.session.things.Store(c.Text("as"), &thing{value: value, exclusive: true})
}

// Name gives something, a message above all, a name of the adapter's own.
func (c *Call) Name(value any) string {
	name := fmt.Sprint("m", c.adapter.named.Add(1))
	c.session.things.Store(name, &thing{value: value})
	return name
}

// Of is what the call is about: what was kept under the name in its parameter of.
func Of[T any](c *Call) T { return Named[T](c, c.Text("of")) }

// Named is what has that name. A name that nothing has, because opening it failed, ends the call.
func Named[T any](c *Call, name string) T { return c.named(name).(T) }

func (c *Call) named(name string) any {
	found, ok := c.session.things.Load(name)
	if !ok {
		panic(notOpen("nothing is called " + name))
	}
	thing := found.(*thing)
	if thing.exclusive && !slices.Contains(c.held, thing) {
		thing.Lock()
		c.held = append(c.held, thing)
	}
	return thing.value
}

func (c *Call) release() {
	for _, thing := range c.held {
		thing.Unlock()
	}
}

// Event tells something that happened without being asked for, to the thing that this call opened if it opened one.
// What comes from a connection that is not open any more is not told.
func (c *Call) Event(event string, told Body) {
	line := Body{"event": event}
	if c.Has("as") {
		line["of"] = c.Text("as")
	}
	maps.Copy(line, told)
	c.adapter.writing.Lock()
	defer c.adapter.writing.Unlock()
	if c.session == c.adapter.current.Load() {
		c.adapter.write(line)
	}
}
