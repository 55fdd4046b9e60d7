// An adapter around nats.go (its jetstream package) and jetstreamext of orbit.go: what each operation of the protocol
// is in the library. The protocol itself is the kit's.
package main

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	ext "github.com/synadia-io/orbit.go/jetstreamext"
	"jetproof/kit"
)

type (
	call     = kit.Call
	body     = kit.Body
	consumer = jetstream.Consumer
	bucket   = jetstream.KeyValue
	pacing   = ext.FastPublishFlowControl
)

const (
	outgoing = " subject data headers ttl_ms expect_stream expect_last_seq expect_last_subject_seq" +
		" expect_last_subject_seq_subject"
	pulling = " expires_ms heartbeat_ms group min_pending"
)

var js = kit.Connection[jetstream.JetStream]

func main() {
	a := &kit.Adapter{
		Modules: []string{"github.com/nats-io/nats.go",
			"github.com/synadia-io/orbit.go/jetstreamext", "github.com/synadia-io/orbit.go/natsext"},
		Claims:     map[string]int{"adr-31": 2, "adr-37": 3, "adr-50": 10},
		ErrorNames: errorNames,
		ErrorFields: kit.FieldsOf(func(err *jetstream.APIError) body {
			return body{"code": err.Code, "err_code": err.ErrorCode, "description": err.Description}
		}),
		Arguments: []any{js, message, messages},
	}
	addCalls(a)
	a.Serve()
}

// addCalls tells what each operation calls, and which options of the library the parameters make.
func addCalls(a *kit.Adapter) {
	a.On("connect", "url name user password token inbox_prefix tls_ca reconnect_wait_ms max_reconnects timeout_ms",
		connect)
	a.Option("name", nats.Name)
	a.Option("user password", nats.UserInfo)
	a.Option("token", nats.Token)
	a.Option("inbox_prefix", nats.CustomInboxPrefix)
	a.Option("tls_ca", func(file string) nats.Option { return nats.RootCAs(file) })
	a.Option("reconnect_wait_ms", nats.ReconnectWait)
	a.Option("max_reconnects", nats.MaxReconnects)
	a.Option("timeout_ms", jetstream.WithDefaultTimeout)

	a.On("publish", outgoing+" msg_id expect_last_msg_id timeout_ms", jetstream.JetStream.PublishMsg, acked)
	a.On("batch.open", "as ack_first ack_every", ext.NewBatchPublisher)
	a.On("batch.add", "of"+outgoing, ext.BatchPublisher.AddMsg)
	a.On("batch.commit", "of"+outgoing, ext.BatchPublisher.CommitMsg, batchAcked)
	a.On("batch.discard", "of", ext.BatchPublisher.Discard)
	a.On("batch.publish", "messages ack_first ack_every", ext.PublishMsgBatch, batchAcked)
	a.On("ingest.open", "as flow max_outstanding gap ack_timeout_ms", openIngest)
	a.On("ingest.add", "of"+outgoing, ext.FastPublisher.AddMsg, ingested)
	a.On("ingest.commit", "of"+outgoing, ext.FastPublisher.CommitMsg, batchAcked)
	a.On("ingest.close", "of", ext.FastPublisher.Close, batchAcked)
	a.Option("msg_id", jetstream.WithMsgID)
	a.Option("ttl_ms", jetstream.WithMsgTTL, ext.WithBatchMsgTTL)
	a.Option("expect_stream", jetstream.WithExpectStream, ext.WithBatchExpectStream)
	a.Option("expect_last_msg_id", jetstream.WithExpectLastMsgID)
	a.Option("expect_last_seq", jetstream.WithExpectLastSequence, ext.WithBatchExpectLastSequence)
	a.Option("expect_last_subject_seq",
		jetstream.WithExpectLastSequencePerSubject, ext.WithBatchExpectLastSequencePerSubject)
	a.Option("expect_last_subject_seq expect_last_subject_seq_subject",
		jetstream.WithExpectLastSequenceForSubject, ext.WithBatchExpectLastSequenceForSubject)
	a.Option("ack_first ack_every", flowControl[ext.BatchPublisherOpt], flowControl[ext.PublishMsgBatchOpt])
	a.Option("flow", func(n uint16) ext.FastPublisherOpt { return pacing{Flow: n} })
	a.Option("max_outstanding", func(n uint16) ext.FastPublisherOpt { return pacing{MaxOutstandingAcks: n} })
	a.Option("ack_timeout_ms", func(d time.Duration) ext.FastPublisherOpt { return pacing{AckTimeout: d} })
	a.Option("gap", func(gap string) ext.FastPublisherOpt { return ext.WithFastPublisherContinueOnGap(gap == "ok") })

	a.On("direct.get", "stream seq last_by_subject next_by_subject", get)
	a.On("direct.batch", "stream batch max_bytes seq start_time next_by_subject", ext.GetBatch, kit.Messages(stored))
	a.On("direct.multi", "stream subjects batch up_to_seq up_to_time", ext.GetLastMsgsFor, kit.Messages(stored))
	a.On("message.get", "stream seq last_by_subject", get)
	a.Option("seq", ext.GetBatchSeq)
	a.Option("start_time", ext.GetBatchStartTime)
	a.Option("next_by_subject", ext.GetBatchSubject, jetstream.WithGetMsgSubject)
	a.Option("batch", ext.GetLastMsgsBatchSize)
	a.Option("up_to_seq", ext.GetLastMsgsUpToSeq)
	a.Option("up_to_time", ext.GetLastMsgsUpToTime)

	a.On("consumer.get", "as stream consumer", jetstream.JetStream.Consumer)
	a.On("consumer.create", "as stream config", jetstream.JetStream.CreateConsumer)
	a.On("consumer.info", "of", consumer.Info, consumerInfo)
	a.On("consumer.delete", "of", deleteConsumer)
	a.On("ordered.get", "as stream filter_subjects deliver_policy start_seq", orderedConsumer)
	a.On("fetch", "of max_messages"+pulling, consumer.Fetch, fetched)
	a.On("fetch", "of max_messages no_wait", fetchNoWait, fetched)
	a.On("fetch", "of max_bytes"+pulling, consumer.FetchBytes, fetched)
	if newer["FetchMaxBytes"] != nil {
		a.On("fetch", "of max_messages max_bytes"+pulling, consumer.Fetch, fetched)
		a.Option("max_bytes max_messages", newer["FetchMaxBytes"])
	}
	a.On("next", "of expires_ms heartbeat_ms", consumer.Next, next)
	a.On("consume", "as of max_messages max_bytes"+pulling+" threshold_messages threshold_bytes", consume)
	a.On("consume.stop", "of", jetstream.ConsumeContext.Stop)
	a.On("consume.drain", "of", jetstream.ConsumeContext.Drain)
	a.On("ack", "messages kind delay_ms reason timeout_ms", ack)
	a.Option("max_messages", pull[jetstream.PullMaxMessages])
	a.Option("threshold_messages", pull[jetstream.PullThresholdMessages])
	a.Option("max_bytes", pull[jetstream.PullMaxBytes], ext.GetBatchMaxBytes)
	a.Option("threshold_bytes", pull[jetstream.PullThresholdBytes])
	a.Option("expires_ms", pull[jetstream.PullExpiry], jetstream.FetchMaxWait)
	a.Option("heartbeat_ms", pull[jetstream.PullHeartbeat], jetstream.FetchHeartbeat)
	a.Option("group", pull[jetstream.PullPriorityGroup], jetstream.FetchPriorityGroup)
	a.Option("min_pending", pull[jetstream.PullMinPending], jetstream.FetchMinPending)

	a.On("kv.open", "as bucket", jetstream.JetStream.KeyValue)
	a.On("kv.get", "of key", bucket.Get, entry)
	a.On("kv.get", "of key revision", bucket.GetRevision, entry)
	a.On("kv.put", "of key data", bucket.Put, kit.Field("revision"))
	a.On("kv.create", "of key data", bucket.Create, kit.Field("revision"))
	a.On("kv.update", "of key data revision", bucket.Update, kit.Field("revision"))
	a.On("kv.delete", "of key", bucket.Delete)
	a.On("kv.purge", "of key", bucket.Purge)
	a.On("kv.list", "of", bucket.Keys, kit.Field("keys"))
	a.On("object.open", "as bucket", jetstream.JetStream.ObjectStore)
	a.On("object.put", "of name data", jetstream.ObjectStore.PutBytes, objectInfo)
	a.On("object.get", "of name", jetstream.ObjectStore.GetBytes, kit.Field("data"))
}

func pull[O jetstream.PullConsumeOpt](option O) jetstream.PullConsumeOpt { return option }

// flowControl leaves out what is not given, as a caller would: the library takes that for false and 0.
func flowControl[O any](c *call) O {
	control := ext.BatchFlowControl{AckFirst: kit.Arg[bool](c, "ack_first"), AckEvery: kit.Arg[int](c, "ack_every")}
	return any(control).(O)
}

func connect(c *call) {
	closed := make(chan struct{})
	tell := func(kind, name string, err error) {
		c.Event("connection", body{"kind": kind, "name": name, "error": err})
	}
	nc := kit.Must(nats.Connect(c.Text("url"), kit.Options(c,
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { tell("disconnected", "DisconnectErrHandler", err) }),
		nats.ReconnectHandler(func(*nats.Conn) { tell("reconnected", "ReconnectHandler", nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { tell("error", "ErrorHandler", err) }),
		nats.ClosedHandler(func(*nats.Conn) {
			tell("closed", "ClosedHandler", nil)
			close(closed)
		}))...))
	c.Connected(kit.Must(jetstream.New(nc, kit.Options[jetstream.JetStreamOpt](c)...)), func() {
		nc.Close()
		<-closed
	})
}

func message(c *call) *nats.Msg {
	return &nats.Msg{Subject: c.Text("subject"), Data: c.Data(), Header: c.Headers()}
}

func messages(c *call) []*nats.Msg {
	return kit.Each(c, "messages", "subject data headers", message)
}

func acked(ack *jetstream.PubAck) body {
	return body{"ack": kit.PubAck{Stream: ack.Stream, Seq: ack.Sequence, Duplicate: ack.Duplicate, Domain: ack.Domain}}
}

func batchAcked(ack *ext.BatchAck) body {
	return body{"ack": kit.PubAck{
		Stream: ack.Stream, Seq: ack.Sequence, Domain: ack.Domain, Batch: ack.BatchID, Count: ack.BatchSize,
	}}
}

// openIngest lets one call at a time have the publisher, which is not safe for concurrent use.
func openIngest(c *call) {
	c.KeepExclusive(kit.Must(ext.NewFastPublisher(js(c), kit.Options(c,
		ext.WithFastPublisherErrorHandler(func(err error) {
			kind := "error"
			if errors.Is(err, ext.ErrFastBatchGapDetected) {
				kind = "gap"
			}
			c.Event("ingest", body{"kind": kind, "error": err})
		}))...)))
}

func ingested(ack *ext.FastPubAck) body {
	return body{"batch_seq": ack.BatchSequence, "ack_seq": ack.AckSequence}
}

func get(c *call, name string) body {
	stream := kit.Must(js(c).Stream(c.Context(), name))
	if c.Op == "message.get" && stream.CachedInfo().Config.AllowDirect {
		kit.Unsupported("GetMsg uses direct get wherever the stream allows it")
	}
	if c.Has("last_by_subject") {
		return body{"message": stored(kit.Must(stream.GetLastMsgForSubject(c.Context(), c.Text("last_by_subject"))))}
	}
	opts := kit.Options[jetstream.GetMsgOpt](c)
	return body{"message": stored(kit.Must(stream.GetMsg(c.Context(), kit.Arg[uint64](c, "seq"), opts...)))}
}

func stored(m *jetstream.RawStreamMsg) body {
	return body{"subject": m.Subject, "seq": m.Sequence, "time": m.Time, "data": m.Data, "headers": m.Header}
}

func consumerInfo(info *jetstream.ConsumerInfo) body {
	return body{"info": body{
		"name": info.Name, "stream_name": info.Stream, "num_pending": info.NumPending,
		"num_ack_pending": uint64(info.NumAckPending), "num_redelivered": uint64(info.NumRedelivered),
	}}
}

func deleteConsumer(c *call, of consumer) error {
	return js(c).DeleteConsumer(c.Context(), of.CachedInfo().Stream, of.CachedInfo().Name)
}

func orderedConsumer(c *call, stream string) (consumer, error) {
	return js(c).OrderedConsumer(c.Context(), stream, jetstream.OrderedConsumerConfig{
		FilterSubjects: kit.Arg[[]string](c, "filter_subjects"),
		DeliverPolicy:  kit.Arg[jetstream.DeliverPolicy](c, "deliver_policy"),
		OptStartSeq:    kit.Arg[uint64](c, "start_seq"),
	})
}

func fetchNoWait(from consumer, size int, noWait bool) (jetstream.MessageBatch, error) {
	if noWait {
		return from.FetchNoWait(size)
	}
	return from.Fetch(size)
}

func fetched(c *call, got jetstream.MessageBatch) body {
	list := []body{}
	for m := range got.Messages() {
		list = append(list, delivered(c, m))
	}
	return body{"messages": list, "error": got.Error()}
}

func next(c *call, m jetstream.Msg) body { return body{"message": delivered(c, m)} }

// delivered names a message, to be acknowledged by.
func delivered(c *call, m jetstream.Msg) body {
	told := body{"msg": c.Name(m), "subject": m.Subject(), "data": m.Data(), "headers": m.Headers()}
	if meta, err := m.Metadata(); err == nil {
		told["stream"], told["consumer"], told["time"] = meta.Stream, meta.Consumer, meta.Timestamp
		told["seq"], told["consumer_seq"] = meta.Sequence.Stream, meta.Sequence.Consumer
		told["delivered"], told["pending"] = meta.NumDelivered, meta.NumPending
	}
	return told
}

func consume(c *call, of consumer) jetstream.ConsumeContext {
	onMessage := func(m jetstream.Msg) { c.Event("message", delivered(c, m)) }
	onError := func(_ jetstream.ConsumeContext, err error) { c.Event("notice", body{"error": err}) }
	opts := kit.Options[jetstream.PullConsumeOpt](c, jetstream.ConsumeErrHandler(onError))
	consuming := kit.Must(of.Consume(onMessage, opts...))
	go func() {
		<-consuming.Closed()
		c.Event("end", nil)
	}()
	return consuming
}

func ack(c *call, names []string) {
	for _, name := range names {
		m := kit.Named[jetstream.Msg](c, name)
		kinds := map[string]func() error{"ack": m.Ack, "nak": m.Nak, "progress": m.InProgress, "term": m.Term}
		kinds["double"] = func() error { return m.DoubleAck(c.Context()) }
		if c.Has("delay_ms") {
			kinds["nak"] = func() error { return m.NakWithDelay(kit.Arg[time.Duration](c, "delay_ms")) }
		}
		if c.Has("reason") {
			kinds["term"] = func() error { return m.TermWithReason(c.Text("reason")) }
		}
		kit.Check(kinds[c.Text("kind")]())
	}
}

func entry(e jetstream.KeyValueEntry) body {
	ops := []string{jetstream.KeyValuePut: "put", jetstream.KeyValueDelete: "delete", jetstream.KeyValuePurge: "purge"}
	told := body{"key": e.Key(), "data": e.Value(), "revision": e.Revision(), "operation": ops[e.Operation()]}
	return body{"entry": told}
}

func objectInfo(info *jetstream.ObjectInfo) body {
	return body{"info": body{"size": info.Size, "chunks": info.Chunks, "digest": info.Digest}}
}
