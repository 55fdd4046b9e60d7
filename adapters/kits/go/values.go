package kit

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Body is an object of the protocol. In it, and in lists of it, values have the forms of the protocol: a uint64 is told
// as digits, a []byte as base64, headers (any map[string][]string) as pairs, an error as its name, text and fields. An
// "error" that is nil is left out.
type Body map[string]any

// PubAck is how the server acknowledged what was published.
type PubAck struct {
	Stream    string `json:"stream"`
	Seq       uint64 `json:"seq,string"`
	Duplicate bool   `json:"duplicate,omitempty"`
	Domain    string `json:"domain,omitempty"`
	Batch     string `json:"batch,omitempty"`
	Count     uint64 `json:"count,string,omitempty"`
}

// Field tells a result as the field of that name.
func Field(name string) func(any) Body {
	return func(value any) Body { return Body{name: value} }
}

// Messages tells a result that is a number of messages, and the error that they end with if there is one.
func Messages[T any](tell func(T) Body) func(iter.Seq2[T, error]) Body {
	return func(messages iter.Seq2[T, error]) Body {
		list := []Body{}
		for message, err := range messages {
			if err != nil {
				return Body{"messages": list, "error": err}
			}
			list = append(list, tell(message))
		}
		return Body{"messages": list}
	}
}

// FieldsOf is for Adapter.ErrorFields: the fields of errors that are or wrap an E.
func FieldsOf[E error](fields func(E) Body) func(error) Body {
	return func(err error) Body {
		var found E
		if errors.As(err, &found) {
			return fields(found)
		}
		return nil
	}
}

var headers = reflect.TypeFor[map[string][]string]()

func (a *Adapter) told(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case Body:
		object := map[string]any{}
		for name, part := range value {
			if name != "error" || part != nil {
				object[name] = a.told(part)
			}
		}
		return object
	case []Body:
		list := make([]any, len(value))
		for i, part := range value {
			list[i] = a.told(part)
		}
		return list
	case uint64:
		return strconv.FormatUint(value, 10)
	case []byte:
		return base64.StdEncoding.EncodeToString(value)
	case error:
		return a.describe(value)
	}
	if reflect.TypeOf(value).ConvertibleTo(headers) {
		return pairs(reflect.ValueOf(value).Convert(headers).Interface().(map[string][]string))
	}
	return value
}

// pairs is in the order of names: a map has none of its own.
func pairs(header map[string][]string) [][2]string {
	list := [][2]string{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			list = append(list, [2]string{name, value})
		}
	}
	return list
}

func (a *Adapter) describe(err error) any {
	told := Body{"type": a.nameOf(err), "text": err.Error()}
	if a.ErrorFields != nil {
		maps.Copy(told, a.ErrorFields(err))
	}
	return a.told(told)
}

// nameOf tells the library's variable that an error is or wraps, else its innermost type.
func (a *Adapter) nameOf(err error) string {
	if reflect.TypeOf(err).Comparable() {
		switch {
		case a.ErrorNames[err] != "":
			return a.ErrorNames[err]
		case err == context.Canceled:
			return "Canceled"
		case err == context.DeadlineExceeded:
			return "DeadlineExceeded"
		}
	}
	if inner := errors.Unwrap(err); inner != nil {
		return a.nameOf(inner)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		name := ""
		for _, inner := range joined.Unwrap() {
			if name = a.nameOf(inner); strings.HasPrefix(name, "Err") {
				break
			}
		}
		return name
	}
	return reflect.Indirect(reflect.ValueOf(err)).Type().Name()
}
