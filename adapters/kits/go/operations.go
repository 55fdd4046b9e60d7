package kit

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// function is one that is called with what a call of Jetproof gives.
type function struct {
	value   reflect.Value
	sources []source
	needs   []string // parameters that are arguments
}

// source makes an argument, or with options any number of them.
type source func(*Call) []reflect.Value

type operation struct {
	takes []string
	call  function
	tell  reflect.Value
}

// option is how a parameter, or several together, becomes an option of the library.
type option struct {
	names []string
	some  bool // one of the names is enough
	maker function
}

// On adds an operation of the protocol: the names of the parameters that the library can express, a function, and how
// its result is told.
//
// The function may be one of the library, or a method as an expression, jetstream.KeyValue.Put. Its arguments are, by
// their type, a *Call, a context (Call.Context), what one of Adapter.Arguments makes, and at the end options (Options).
// The others are the first of the parameters, in their order; of stands for what has that name. An error that the
// function returns last ends the call.
//
// With the parameter as, what the function returns is kept under that name. Otherwise a Body is the answer, and any
// other result is given to tell: a function that makes a Body of it, with a *Call as its first argument if it wants
// one.
//
// An operation that is added again, with other parameters, is another way to call the library: the first that knows all
// parameters that are given, and whose arguments (but for data, which may be empty) are given, is called. If there is
// none the answer is unsupported.
//
// The operation connect ends with Call.Connected. The operations hello and close are the kit's.
func (a *Adapter) On(op, takes string, call any, tell ...any) {
	if a.operations == nil {
		a.operations = map[string][]operation{}
	}
	added := operation{takes: strings.Fields(takes)}
	added.call = a.bind(op, call, added.takes)
	if len(tell) > 0 {
		added.tell = reflect.ValueOf(tell[0])
	}
	a.operations[op] = append(a.operations[op], added)
}

func (c *Call) fitting(operations []operation) operation {
	var known []string
	for _, operation := range operations {
		if c.unknown(operation.takes) == "" && !slices.ContainsFunc(operation.call.needs, c.lacks) {
			return operation
		}
		known = append(known, operation.takes...)
	}
	if unknown := c.unknown(known); unknown != "" {
		Unsupported("no parameter " + unknown + " in the library's API")
	}
	given := slices.DeleteFunc(slices.Sorted(maps.Keys(c.given)), isEnvelope)
	panic(unsupported(fmt.Sprintf("no API for %s with just these parameters: %s", c.Op, strings.Join(given, ", "))))
}

func (c *Call) lacks(name string) bool { return !c.Has(name) }

func isEnvelope(name string) bool { return name == "id" || name == "op" }

// unknown is a parameter that is given and not among the names, "" if there is none.
func (c *Call) unknown(names []string) string {
	for name := range c.given {
		if !isEnvelope(name) && !slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

func (o operation) play(c *Call) Body {
	results := o.call.play(c)
	switch {
	case len(results) == 0:
		return nil
	case results[0].Type() == reflect.TypeFor[Body]():
		return results[0].Interface().(Body)
	case slices.Contains(o.takes, "as"):
		c.Keep(results[0].Interface())
		return nil
	case !o.tell.IsValid():
		return nil
	case o.tell.Type().In(0) == reflect.TypeFor[*Call]():
		results = append([]reflect.Value{reflect.ValueOf(c)}, results...)
	}
	return o.tell.Call(results)[0].Interface().(Body)
}

// Option adds functions of the library that make an option of parameters, whose names are separated by blanks. What a
// function returns tells which calls take it: a parameter can have one for publishing, say, and another for batches.
// All of the parameters have to be given, or one of them if the function takes a *Call and sees for itself.
func (a *Adapter) Option(names string, makers ...any) {
	for _, maker := range makers {
		added := option{names: strings.Fields(names)}
		added.maker = a.bind(names, maker, added.names)
		added.some = added.maker.value.Type().In(0) == reflect.TypeFor[*Call]()
		a.options = append(a.options, added)
	}
}

// Options makes the options of the type O whose parameters are given, after those that are made already.
func Options[O any](c *Call, made ...O) []O {
	for _, option := range c.options(reflect.TypeFor[O]()) {
		made = append(made, option.Interface().(O))
	}
	return made
}

func (c *Call) options(wanted reflect.Type) []reflect.Value {
	var made []reflect.Value
	for _, option := range c.adapter.options {
		given := !slices.ContainsFunc(option.names, c.lacks) || option.some && slices.ContainsFunc(option.names, c.Has)
		if given && option.maker.value.Type().Out(0) == wanted {
			made = append(made, option.maker.play(c)...)
		}
	}
	return made
}

// bind finds out where the arguments of a function come from.
func (a *Adapter) bind(what string, call any, names []string) function {
	bound := function{value: reflect.ValueOf(call)}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "as" })
	for i := range bound.value.Type().NumIn() {
		wanted := bound.value.Type().In(i)
		made, known := a.made(wanted)
		switch {
		case known:
			bound.sources = append(bound.sources, made)
		case bound.value.Type().IsVariadic() && i == bound.value.Type().NumIn()-1:
			bound.sources = append(bound.sources, func(c *Call) []reflect.Value { return c.options(wanted.Elem()) })
		case len(names) > 0:
			bound.sources = append(bound.sources, parameter(names[0], wanted))
			if names[0] != "data" {
				bound.needs = append(bound.needs, names[0])
			}
			names = names[1:]
		default:
			panic(fmt.Sprintf("%s: nothing is named for the argument of the type %s", what, wanted))
		}
	}
	return bound
}

func (a *Adapter) made(wanted reflect.Type) (source, bool) {
	if a.sources == nil {
		a.sources = map[reflect.Type]source{
			reflect.TypeFor[*Call]():           returned(reflect.ValueOf(func(c *Call) *Call { return c })),
			reflect.TypeFor[context.Context](): returned(reflect.ValueOf((*Call).Context)),
		}
		for _, argument := range a.Arguments {
			maker := reflect.ValueOf(argument)
			a.sources[maker.Type().Out(0)] = returned(maker)
		}
	}
	found, known := a.sources[wanted]
	return found, known
}

func returned(maker reflect.Value) source {
	return func(c *Call) []reflect.Value { return maker.Call([]reflect.Value{reflect.ValueOf(c)}) }
}

func parameter(name string, wanted reflect.Type) source {
	return func(c *Call) []reflect.Value {
		if name == "of" {
			return []reflect.Value{reflect.ValueOf(c.named(c.Text("of")))}
		}
		value := reflect.New(wanted).Elem()
		if c.Has(name) {
			c.read(name, value)
		}
		return []reflect.Value{value}
	}
}

// play calls the function, and raises the error that it returns last.
func (f function) play(c *Call) []reflect.Value {
	var args []reflect.Value
	for _, source := range f.sources {
		args = append(args, source(c)...)
	}
	results := f.value.Call(args)
	last := len(results) - 1
	if last >= 0 && results[last].Type() == reflect.TypeFor[error]() {
		if err, failed := results[last].Interface().(error); failed {
			panic(raised{err})
		}
		return results[:last]
	}
	return results
}
