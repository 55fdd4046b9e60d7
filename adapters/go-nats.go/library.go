package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	ext "github.com/synadia-io/orbit.go/jetstreamext"
)

type (
	batch    = ext.BatchPublisher
	batchOpt = ext.BatchMsgOpt
	ingest   = ext.FastPublisher
	consumer = jetstream.Consumer
	consumes = jetstream.ConsumeContext
	fetchOpt = jetstream.FetchOpt
	kv       = jetstream.KeyValue
	objects  = jetstream.ObjectStore
	session  struct {
		nc     *nats.Conn
		js     jetstream.JetStream
		things sync.Map // by the names that Jetproof gave them
		closed chan struct{}
	}
)

var (
	bg       = context.Background()
	current  atomic.Pointer[session]
	messages atomic.Int64
)

const (
	outgoing = "subject data headers ttl_ms expect_stream expect_last_seq expect_last_subject_seq expect_last_subject_seq_subject "
	pulls    = "of max_messages max_bytes expires_ms heartbeat_ms group min_pending "
)

// operations tells what the adapter can do: the parameters that the library's API can express, and the call.
var operations = map[string]struct {
	takes string
	play  func(*call) any
}{
	"connect":       {"url name user password token inbox_prefix tls_ca reconnect_wait_ms max_reconnects timeout_ms", connect},
	"close":         {"", func(*call) any { return disconnect() }},
	"publish":       {outgoing + "msg_id expect_last_msg_id timeout_ms", publish},
	"batch.open":    {"as ack_first ack_every", batchOpen},
	"batch.add":     {"of " + outgoing, func(c *call) any { return done(of[batch](c).AddMsg(c.msg(), opts[batchOpt](c)...)) }},
	"batch.commit":  {"of " + outgoing, func(c *call) any { return acked(of[batch](c).CommitMsg(bg, c.msg(), opts[batchOpt](c)...)) }},
	"batch.discard": {"of", func(c *call) any { return done(of[batch](c).Discard()) }},
	"batch.publish": {"messages ack_first ack_every", batchPublish},
	"ingest.open":   {"as flow max_outstanding gap ack_timeout_ms", ingestOpen},
	"ingest.add":    {"of " + outgoing, ingestAdd},
	"ingest.commit": {"of " + outgoing, func(c *call) any { return acked(of[ingest](c).CommitMsg(bg, c.msg(), opts[batchOpt](c)...)) }},
	"ingest.close":  {"of", func(c *call) any { return acked(of[ingest](c).Close(bg)) }},

	"direct.get":   {"stream seq last_by_subject next_by_subject", get},
	"direct.batch": {"stream batch max_bytes seq start_time next_by_subject", directBatch},
	"direct.multi": {"stream subjects batch up_to_seq up_to_time", directMulti},
	"message.get":  {"stream seq last_by_subject", get},

	"consumer.get":    {"as stream consumer", func(c *call) any { return c.keep(c.js.Consumer(bg, c.text("stream"), c.text("consumer"))) }},
	"consumer.create": {"as stream config", consumerCreate},
	"consumer.info":   {"of", consumerInfo},
	"consumer.delete": {"of", consumerDelete},
	"ordered.get":     {"as stream filter_subjects deliver_policy start_seq", orderedGet},
	"fetch":           {pulls + "no_wait", fetch},
	"next":            {"of expires_ms heartbeat_ms", func(c *call) any { return body{"message": c.message(must(of[consumer](c).Next(opts[fetchOpt](c)...)))} }},
	"consume":         {pulls + "as threshold_messages threshold_bytes", consume},
	"consume.stop":    {"of", func(c *call) any { of[consumes](c).Stop(); return body{} }},
	"consume.drain":   {"of", func(c *call) any { of[consumes](c).Drain(); return body{} }},
	"ack":             {"messages kind delay_ms reason timeout_ms", ack},

	"kv.open":     {"as bucket", func(c *call) any { return c.keep(c.js.KeyValue(bg, c.text("bucket"))) }},
	"kv.get":      {"of key revision", kvGet},
	"kv.put":      {"of key data", func(c *call) any { return revision(of[kv](c).Put(bg, c.text("key"), c.data())) }},
	"kv.create":   {"of key data", func(c *call) any { return revision(of[kv](c).Create(bg, c.text("key"), c.data())) }},
	"kv.update":   {"of key data revision", kvUpdate},
	"kv.delete":   {"of key", func(c *call) any { return done(of[kv](c).Delete(bg, c.text("key"))) }},
	"kv.purge":    {"of key", func(c *call) any { return done(of[kv](c).Purge(bg, c.text("key"))) }},
	"kv.list":     {"of", func(c *call) any { return body{"keys": must(of[kv](c).Keys(bg))} }},
	"object.open": {"as bucket", func(c *call) any { return c.keep(c.js.ObjectStore(bg, c.text("bucket"))) }},
	"object.put":  {"of name data", objectPut},
	"object.get":  {"of name", func(c *call) any { return body{"data": b64(must(of[objects](c).GetBytes(bg, c.text("name"))))} }},
}

// options tells what the library has options for; the kind that is made tells which calls take it.
var options = map[string][]any{
	"name": {nats.Name}, "user password": {nats.UserInfo}, "token": {nats.Token}, "inbox_prefix": {nats.CustomInboxPrefix},
	"tls_ca":            {func(file string) nats.Option { return nats.RootCAs(file) }},
	"reconnect_wait_ms": {nats.ReconnectWait}, "max_reconnects": {nats.MaxReconnects}, "timeout_ms": {jetstream.WithDefaultTimeout},

	"msg_id": {jetstream.WithMsgID}, "expect_last_msg_id": {jetstream.WithExpectLastMsgID},
	"ttl_ms":                  {jetstream.WithMsgTTL, ext.WithBatchMsgTTL},
	"expect_stream":           {jetstream.WithExpectStream, ext.WithBatchExpectStream},
	"expect_last_seq":         {jetstream.WithExpectLastSequence, ext.WithBatchExpectLastSequence},
	"expect_last_subject_seq": {jetstream.WithExpectLastSequencePerSubject, ext.WithBatchExpectLastSequencePerSubject},
	"expect_last_subject_seq expect_last_subject_seq_subject": {jetstream.WithExpectLastSequenceForSubject, ext.WithBatchExpectLastSequenceForSubject},

	"flow":            {func(n uint16) ext.FastPublisherOpt { return ext.FastPublishFlowControl{Flow: n} }},
	"max_outstanding": {func(n uint16) ext.FastPublisherOpt { return ext.FastPublishFlowControl{MaxOutstandingAcks: n} }},
	"ack_timeout_ms":  {func(d time.Duration) ext.FastPublisherOpt { return ext.FastPublishFlowControl{AckTimeout: d} }},
	"gap":             {func(gap string) ext.FastPublisherOpt { return ext.WithFastPublisherContinueOnGap(gap == "ok") }},

	"seq": {ext.GetBatchSeq}, "start_time": {ext.GetBatchStartTime}, "next_by_subject": {ext.GetBatchSubject, jetstream.WithGetMsgSubject},
	"batch": {ext.GetLastMsgsBatchSize}, "up_to_seq": {ext.GetLastMsgsUpToSeq}, "up_to_time": {ext.GetLastMsgsUpToTime},

	"max_messages": {pull[jetstream.PullMaxMessages]}, "threshold_messages": {pull[jetstream.PullThresholdMessages]},
	"max_bytes": {pull[jetstream.PullMaxBytes], ext.GetBatchMaxBytes}, "threshold_bytes": {pull[jetstream.PullThresholdBytes]},
	"expires_ms":   {pull[jetstream.PullExpiry], jetstream.FetchMaxWait},
	"heartbeat_ms": {pull[jetstream.PullHeartbeat], jetstream.FetchHeartbeat},
	"group":        {pull[jetstream.PullPriorityGroup], jetstream.FetchPriorityGroup},
	"min_pending":  {pull[jetstream.PullMinPending], jetstream.FetchMinPending},
}

func pull[O jetstream.PullConsumeOpt](option O) jetstream.PullConsumeOpt { return option }

func connect(c *call) any {
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

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func dec(n uint64) string { return strconv.FormatUint(n, 10) }

func revision(n uint64, err error) any { return body{"revision": dec(must(n, err))} }

func (c *call) data() []byte { return arg[[]byte](c, "data") }

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

func publish(c *call) any {
	ack := must(c.js.PublishMsg(c.ctx(), c.msg(), opts[jetstream.PublishOpt](c)...))
	return body{"ack": pubAck{Stream: ack.Stream, Seq: ack.Sequence, Duplicate: ack.Duplicate, Domain: ack.Domain}}
}

func acked(ack *ext.BatchAck, err error) any {
	check(err)
	return body{"ack": pubAck{Stream: ack.Stream, Seq: ack.Sequence, Domain: ack.Domain, Batch: ack.BatchID, Count: ack.BatchSize}}
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

func ingestOpen(c *call) any {
	handler := ext.WithFastPublisherErrorHandler(func(err error) {
		kind := "error"
		if nameOf(err) == "ErrFastBatchGapDetected" {
			kind = "gap"
		}
		c.event(body{"event": "ingest", "of": c.text("as"), "kind": kind}, err)
	})
	return c.keep(ext.NewFastPublisher(c.js, opts(c, handler)...))
}

func ingestAdd(c *call) any {
	ack := must(of[ingest](c).AddMsg(c.msg(), opts[batchOpt](c)...))
	return body{"batch_seq": dec(ack.BatchSequence), "ack_seq": dec(ack.AckSequence)}
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
	case arg[bool](c, "no_wait") && len(opts)+bytes == 0:
		got, err = from.FetchNoWait(size)
	case arg[bool](c, "no_wait") || c.has("max_bytes") && c.has("max_messages") && fetchMaxBytes == nil:
		panic(unsupported("a fetch with all these parameters"))
	case c.has("max_bytes") && c.has("max_messages"):
		got, err = from.Fetch(size, append(opts, fetchMaxBytes(bytes))...)
	case c.has("max_bytes"):
		got, err = from.FetchBytes(bytes, opts...)
	default:
		got, err = from.Fetch(size, opts...)
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
