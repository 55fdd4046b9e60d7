package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	ext "github.com/synadia-io/orbit.go/jetstreamext"
)

type session struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	things sync.Map // by the names that Jetproof gave them, and messages by ours
	closed chan struct{}
}

var (
	bg      = context.Background()
	current atomic.Pointer[session]
)

func connect(c *call) any {
	if c.session != nil {
		panic(unsupported("no second connection at a time"))
	}
	s := &session{closed: make(chan struct{})}
	tell := func(kind, name string, err error) {
		s.event(body{"event": "connection", "kind": kind, "name": name}, err)
	}
	s.nc = must(nats.Connect(c.text("url"), opts(c,
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { tell("disconnected", "DisconnectErrHandler", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { tell("reconnected", "ReconnectHandler", nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { tell("error", "ErrorHandler", err) }),
		nats.ClosedHandler(func(*nats.Conn) { tell("closed", "ClosedHandler", nil); close(s.closed) }))...))
	s.js = must(jetstream.New(s.nc, opts[jetstream.JetStreamOpt](c)...))
	current.Store(s)
	return body{}
}

func disconnect() any {
	if s := current.Load(); s != nil {
		s.nc.Close()
		<-s.closed
		current.CompareAndSwap(s, nil)
	}
	return body{}
}

// event tells something, unless it comes from a connection that was closed.
func (s *session) event(line body, err error) {
	if err != nil {
		line["error"] = describe(err)
	}
	if s == current.Load() {
		send(line)
	}
}

func (c *call) keep(thing any, err error) any {
	check(err)
	c.things.Store(c.text("as"), thing)
	return body{}
}

func find[T any](c *call, name string) T {
	thing, ok := c.things.Load(name)
	if !ok {
		panic("nothing is called " + name)
	}
	return thing.(T)
}

func of[T any](c *call) T { return find[T](c, c.text("of")) }

func done(err error) any {
	check(err)
	return body{}
}

func publish(c *call) any {
	ack := must(c.js.PublishMsg(c.ctx(), c.msg(), opts[jetstream.PublishOpt](c)...))
	return body{"ack": pubAck{Stream: ack.Stream, Seq: ack.Sequence, Duplicate: ack.Duplicate, Domain: ack.Domain}}
}

func batchOpen(c *call) any {
	return c.keep(ext.NewBatchPublisher(c.js, flow[ext.BatchPublisherOpt](c)...))
}

// flow leaves out what is not given, as a caller would: the library takes that for false and 0.
func flow[O any](c *call) []O {
	if !c.has("ack_first") && !c.has("ack_every") {
		return nil
	}
	control := ext.BatchFlowControl{AckFirst: arg[bool](c, "ack_first"), AckEvery: arg[int](c, "ack_every")}
	return []O{any(control).(O)}
}

func batchPublish(c *call) any {
	var msgs []*nats.Msg
	for _, given := range arg[[]map[string]json.RawMessage](c, "messages") {
		one := &call{given: given}
		one.allow("subject data headers")
		msgs = append(msgs, one.msg())
	}
	return acked(ext.PublishMsgBatch(bg, c.js, msgs, flow[ext.PublishMsgBatchOpt](c)...))
}

// ingest is a fast publisher, which no two may use at once.
type ingest struct {
	sync.Mutex
	ext.FastPublisher
}

func ingestOpen(c *call) any {
	handler := ext.WithFastPublisherErrorHandler(func(err error) {
		kind := "error"
		if nameOf(err) == "ErrFastBatchGapDetected" {
			kind = "gap"
		}
		c.event(body{"event": "ingest", "of": c.text("as"), "kind": kind}, err)
	})
	return c.keep(&ingest{FastPublisher: must(ext.NewFastPublisher(c.js, opts(c, handler)...))}, nil)
}

func (c *call) ingest() *ingest {
	f := of[*ingest](c)
	f.Lock()
	return f
}

func ingestAdd(c *call) any {
	f := c.ingest()
	defer f.Unlock()
	ack := must(f.AddMsg(c.msg(), opts[batchOpt](c)...))
	return body{"batch_seq": dec(ack.BatchSequence), "ack_seq": dec(ack.AckSequence)}
}

func ingestCommit(c *call) any {
	f := c.ingest()
	defer f.Unlock()
	return acked(f.CommitMsg(bg, c.msg(), opts[batchOpt](c)...))
}

func ingestClose(c *call) any {
	f := c.ingest()
	defer f.Unlock()
	return acked(f.Close(bg))
}

func get(c *call) any {
	stream := must(c.js.Stream(bg, c.text("stream")))
	if c.text("op") == "message.get" && stream.CachedInfo().Config.AllowDirect {
		panic(unsupported("GetMsg uses direct get wherever the stream allows it"))
	}
	if c.has("last_by_subject") {
		return body{"message": stored(must(stream.GetLastMsgForSubject(bg, c.text("last_by_subject"))))}
	}
	return body{"message": stored(must(stream.GetMsg(bg, arg[uint64](c, "seq"), opts[jetstream.GetMsgOpt](c)...)))}
}

func many(found iter.Seq2[*jetstream.RawStreamMsg, error], err error) any {
	check(err)
	list, told := []body{}, body{}
	for m, err := range found {
		if err != nil {
			told["error"] = describe(err)
			break
		}
		list = append(list, stored(m))
	}
	told["messages"] = list
	return told
}

func directBatch(c *call) any {
	return many(ext.GetBatch(bg, c.js, c.text("stream"), arg[int](c, "batch"), opts[ext.GetBatchOpt](c)...))
}

func directMulti(c *call) any {
	return many(ext.GetLastMsgsFor(bg, c.js, c.text("stream"), arg[[]string](c, "subjects"), opts[ext.GetLastForOpt](c)...))
}

func consumerCreate(c *call) any {
	return c.keep(c.js.CreateConsumer(bg, c.text("stream"), arg[jetstream.ConsumerConfig](c, "config")))
}

func consumerInfo(c *call) any {
	info := must(of[consumer](c).Info(bg))
	return body{"info": body{"name": info.Name, "stream_name": info.Stream, "num_pending": dec(info.NumPending),
		"num_ack_pending": fmt.Sprint(info.NumAckPending), "num_redelivered": fmt.Sprint(info.NumRedelivered)}}
}

func consumerDelete(c *call) any {
	info := of[consumer](c).CachedInfo()
	return done(c.js.DeleteConsumer(bg, info.Stream, info.Name))
}

func orderedGet(c *call) any {
	return c.keep(c.js.OrderedConsumer(bg, c.text("stream"), jetstream.OrderedConsumerConfig{
		FilterSubjects: arg[[]string](c, "filter_subjects"),
		DeliverPolicy:  arg[jetstream.DeliverPolicy](c, "deliver_policy"),
		OptStartSeq:    arg[uint64](c, "start_seq"),
	}))
}

func fetch(c *call) any {
	var got jetstream.MessageBatch
	var err error
	from, size, bytes, opts := of[consumer](c), arg[int](c, "max_messages"), arg[int](c, "max_bytes"), opts[fetchOpt](c)
	switch {
	case !c.has("max_messages") && !c.has("max_bytes"):
		panic(unsupported("no API for a fetch without max_messages and max_bytes"))
	case arg[bool](c, "no_wait") && (len(opts) > 0 || c.has("max_bytes")):
		panic(unsupported("FetchNoWait takes no parameter but max_messages"))
	case arg[bool](c, "no_wait"):
		got, err = from.FetchNoWait(size)
	case !c.has("max_bytes"):
		got, err = from.Fetch(size, opts...)
	case !c.has("max_messages"):
		got, err = from.FetchBytes(bytes, opts...)
	case fetchMaxBytes == nil:
		panic(unsupported("no parameter max_bytes beside max_messages in the library's API"))
	default:
		got, err = from.Fetch(size, append(opts, fetchMaxBytes(bytes))...)
	}
	check(err)
	list, told := []body{}, body{}
	for m := range got.Messages() {
		list = append(list, c.message(m))
	}
	if err := got.Error(); err != nil {
		told["error"] = describe(err)
	}
	told["messages"] = list
	return told
}

func consume(c *call) any {
	name := c.text("as")
	consuming := must(of[consumer](c).Consume(func(m jetstream.Msg) {
		line := c.message(m)
		line["event"], line["of"] = "message", name
		c.event(line, nil)
	}, opts[jetstream.PullConsumeOpt](c, jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		c.event(body{"event": "notice", "of": name}, err)
	}))...))
	go func() {
		<-consuming.Closed()
		c.event(body{"event": "end", "of": name}, nil)
	}()
	return c.keep(consuming, nil)
}

func ack(c *call) any {
	for _, name := range arg[[]string](c, "messages") {
		m := find[jetstream.Msg](c, name)
		kinds := map[string]func() error{"ack": m.Ack, "nak": m.Nak, "progress": m.InProgress, "term": m.Term}
		kinds["double"] = func() error { return m.DoubleAck(c.ctx()) }
		if c.has("delay_ms") {
			kinds["nak"] = func() error { return m.NakWithDelay(arg[time.Duration](c, "delay_ms")) }
		}
		if c.has("reason") {
			kinds["term"] = func() error { return m.TermWithReason(c.text("reason")) }
		}
		check(kinds[c.text("kind")]())
	}
	return body{}
}

func kvGet(c *call) any {
	var entry jetstream.KeyValueEntry
	if c.has("revision") {
		entry = must(of[kv](c).GetRevision(bg, c.text("key"), arg[uint64](c, "revision")))
	} else {
		entry = must(of[kv](c).Get(bg, c.text("key")))
	}
	kind := map[jetstream.KeyValueOp]string{jetstream.KeyValuePut: "put", jetstream.KeyValueDelete: "delete", jetstream.KeyValuePurge: "purge"}
	return body{"entry": body{"key": entry.Key(), "data": b64(entry.Value()), "revision": dec(entry.Revision()), "operation": kind[entry.Operation()]}}
}

func kvUpdate(c *call) any {
	return revision(of[kv](c).Update(bg, c.text("key"), c.data(), arg[uint64](c, "revision")))
}

func objectPut(c *call) any {
	info := must(of[objects](c).PutBytes(bg, c.text("name"), c.data()))
	return body{"info": body{"size": dec(info.Size), "chunks": info.Chunks, "digest": info.Digest}}
}
