package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	ext "github.com/synadia-io/orbit.go/jetstreamext"
)

var messages atomic.Int64

func b64(data []byte) string           { return base64.StdEncoding.EncodeToString(data) }
func dec(n uint64) string              { return strconv.FormatUint(n, 10) }
func revision(n uint64, err error) any { return body{"revision": dec(must(n, err))} }
func (c *call) data() []byte           { return arg[[]byte](c, "data") }

// ctx ends after timeout_ms, if that is given.
func (c *call) ctx() context.Context {
	if !c.has("timeout_ms") {
		return bg
	}
	ctx, cancel := context.WithTimeout(bg, arg[time.Duration](c, "timeout_ms"))
	context.AfterFunc(ctx, cancel)
	return ctx
}

func (c *call) msg() *nats.Msg {
	m := nats.NewMsg(c.text("subject"))
	m.Data = c.data()
	for _, pair := range arg[[][2]string](c, "headers") {
		m.Header.Add(pair[0], pair[1])
	}
	return m
}

type pubAck struct {
	Stream    string `json:"stream"`
	Seq       uint64 `json:"seq,string"`
	Duplicate bool   `json:"duplicate,omitempty"`
	Domain    string `json:"domain,omitempty"`
	Batch     string `json:"batch,omitempty"`
	Count     uint64 `json:"count,string,omitempty"`
}

func acked(ack *ext.BatchAck, err error) any {
	check(err)
	return body{"ack": pubAck{Stream: ack.Stream, Seq: ack.Sequence, Domain: ack.Domain, Batch: ack.BatchID, Count: ack.BatchSize}}
}

func stored(m *jetstream.RawStreamMsg) body {
	return body{"subject": m.Subject, "seq": dec(m.Sequence), "time": m.Time, "data": b64(m.Data), "headers": pairs(m.Header)}
}

// message tells a message that was delivered, and gives it a name to acknowledge it by.
func (c *call) message(m jetstream.Msg) body {
	name := fmt.Sprint("m", messages.Add(1))
	c.things.Store(name, m)
	told := body{"msg": name, "subject": m.Subject(), "data": b64(m.Data()), "headers": pairs(m.Headers())}
	if meta, err := m.Metadata(); err == nil {
		told["stream"], told["consumer"], told["time"] = meta.Stream, meta.Consumer, meta.Timestamp
		told["seq"], told["consumer_seq"] = dec(meta.Sequence.Stream), dec(meta.Sequence.Consumer)
		told["delivered"], told["pending"] = dec(meta.NumDelivered), dec(meta.NumPending)
	}
	return told
}

func pairs(header nats.Header) [][2]string {
	list := [][2]string{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			list = append(list, [2]string{name, value})
		}
	}
	return list
}
