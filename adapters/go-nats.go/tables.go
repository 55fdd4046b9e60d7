package main

import (
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	ext "github.com/synadia-io/orbit.go/jetstreamext"
)

type (
	batch    = ext.BatchPublisher
	batchOpt = ext.BatchMsgOpt
	consumer = jetstream.Consumer
	consumes = jetstream.ConsumeContext
	fetchOpt = jetstream.FetchOpt
	kv       = jetstream.KeyValue
	objects  = jetstream.ObjectStore
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
	"ingest.commit": {"of " + outgoing, ingestCommit},
	"ingest.close":  {"of", ingestClose},

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
