package jetproof;

import static jetproof.kit.Fields.*;

import com.google.gson.JsonParser;
import io.nats.client.*;
import io.nats.client.api.*;
import io.nats.client.impl.*;
import io.nats.client.support.Status;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Field;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import jetproof.kit.*;

/** Jetproof's adapter of jnats: its public API, call by call. */
public final class Jnats extends Adapter<Connection> {
  private record Pull(StreamContext stream, BaseConsumerContext context) {}

  /** The names of consumes by their dispatchers, which tell of which one a notice is. */
  private final Map<Dispatcher, String> consumes = new ConcurrentHashMap<>();

  private volatile JetStreamOptions options;

  public static void main(String[] arguments) throws Exception {
    new Jnats().serve();
  }

  /** What the library can do, each operation with its parameters; all else is unsupported. */
  private Jnats() {
    super("url name user password token inbox_prefix tls_ca reconnect_wait_ms max_reconnects timeout_ms");
    String expect = "expect_stream expect_last_seq expect_last_subject_seq expect_last_subject_seq_subject";
    gives("publish subject data headers msg_id expect_last_msg_id ttl_ms timeout_ms " + expect, this::publish);
    // One call for both: the library takes direct get where the stream allows it.
    gives("direct.get stream seq last_by_subject next_by_subject", this::getMessage);
    gives("message.get stream seq last_by_subject", this::getMessage);

    opens("consumer.get stream consumer", p -> pull(p, (s, q) -> s.getConsumerContext(q.text("consumer"))));
    opens("consumer.create stream config", p -> pull(p, (s, q) -> s.createOrUpdateConsumer(config(q))));
    opens("ordered.get stream filter_subjects deliver_policy start_seq", p -> pull(p, Jnats::ordered));
    gives("consumer.info", Pull.class, (pull, p) -> fields("info", consumerInfo(pull)));
    does("consumer.delete", Pull.class, (pull, p) -> pull.stream.deleteConsumer(pull.context.getConsumerName()));
    gives("fetch max_messages max_bytes expires_ms no_wait group min_pending", Pull.class, this::fetch);
    gives("next expires_ms", Pull.class, this::next);
    opens("consume max_messages max_bytes expires_ms group min_pending", Pull.class, this::consume);
    does("consume.stop", MessageConsumer.class, this::stop);
    does("consume.drain", MessageConsumer.class, (consumer, p) -> consumer.stop());
    does("ack messages kind delay_ms timeout_ms", this::ack);

    opens("kv.open bucket", p -> connection().keyValue(p.text("bucket"), KeyValueOptions.builder(options).build()));
    gives("kv.get key revision", KeyValue.class, this::getKey);
    gives("kv.put key data", KeyValue.class, (kv, p) -> fields("revision", kv.put(p.text("key"), p.data())));
    gives("kv.create key data", KeyValue.class, (kv, p) -> fields("revision", kv.create(p.text("key"), p.data())));
    gives("kv.update key data revision", KeyValue.class,
        (kv, p) -> fields("revision", kv.update(p.text("key"), p.data(), p.number("revision"))));
    does("kv.delete key", KeyValue.class, (kv, p) -> kv.delete(p.text("key")));
    does("kv.purge key", KeyValue.class, (kv, p) -> kv.purge(p.text("key")));
    gives("kv.list", KeyValue.class, (kv, p) -> fields("keys", kv.keys()));

    opens("object.open bucket",
        p -> connection().objectStore(p.text("bucket"), ObjectStoreOptions.builder(options).build()));
    gives("object.put name data", ObjectStore.class, this::putObject);
    gives("object.get name", ObjectStore.class, this::getObject);
  }

  @Override
  protected Fields about() {
    // Revision 3 brought the status 423, and 2.24 what the library does about it.
    var statuses = Arrays.stream(Status.class.getFields()).map(Field::getName);
    var claims = Map.of("adr-31", 1, "adr-37", statuses.anyMatch("PIN_ERROR_CODE"::equals) ? 3 : 2);
    String version = Nats.CLIENT_VERSION;
    return fields("library", "jnats", "version", version, "parts", Map.of("jnats", version), "claims", claims);
  }

  @Override
  protected Connection connect(Call p) throws Exception {
    Options.Builder b = Options.builder().server(p.text("url"));
    b.connectionListener(this::connectionEvent).errorListener(listener(ErrorListener.class, this::told));
    p.text("name", b::connectionName);
    p.text("user", user -> b.userInfo(user, p.text("password")));
    p.text("token", token -> b.token(token.toCharArray()));
    p.text("inbox_prefix", b::inboxPrefix);
    p.millis("reconnect_wait_ms", b::reconnectWait);
    p.limit("max_reconnects", b::maxReconnects);
    if (p.has("tls_ca")) b.sslContext(p.trusting("tls_ca"));
    JetStreamOptions.Builder js = JetStreamOptions.builder();
    p.millis("timeout_ms", js::requestTimeout);
    options = js.build();
    return Nats.connect(b.build());
  }

  private void connectionEvent(Connection c, ConnectionListener.Events type) {
    if (List.of("disconnected", "reconnected", "closed").contains(type.getEvent()))
      say(fields("event", "connection", "kind", type.getEvent(), "name", type.name()));
  }

  /** What the listener of errors was told, under the name of its method: the connection first. */
  private void told(String name, Object[] told) {
    Object last = told[told.length - 1];
    Fields error = fields("type", name, "text", last instanceof String ? last : name);
    if (last instanceof Status status) error.and("text", status.toString()).and(fieldsOf(status));
    if (last instanceof Exception e) error = error(e);
    String consume = told.length > 1 && told[1] instanceof JetStreamSubscription s ? consumeOf(s) : null;
    if (consume != null) say(fields("event", "notice", "of", consume, "error", error));
    else say(fields("event", "connection", "kind", "error", "name", name, "error", error));
  }

  /** By the dispatcher; a subscription that the library has given up has none any more. */
  private String consumeOf(JetStreamSubscription about) {
    if (about.getDispatcher() != null) return consumes.get(about.getDispatcher());
    for (String name : consumes.values()) {
      var consumer = find(name, MessageConsumer.class).map(MessageConsumer::getConsumerName);
      if (consumer.filter(about.getConsumerName()::equals).isPresent()) return name;
    }
    return null;
  }

  @Override
  protected Fields details(Throwable e) {
    Throwable cause = e instanceof JetStreamStatusCheckedException ? e.getCause() : e;
    if (cause instanceof JetStreamStatusException status) return fieldsOf(status.getStatus());
    if (!(e instanceof JetStreamApiException api)) return fields();
    Fields codes = fields("code", api.getErrorCode(), "err_code", api.getApiErrorCode());
    return codes.and("description", api.getErrorDescription());
  }

  private static Fields fieldsOf(Status status) {
    return fields("status", status.getCode(), "description", status.getMessage());
  }

  private Fields publish(Call p) throws Exception {
    Headers headers = p.has("headers") ? new Headers().put(p.headers()) : null;
    Message message = NatsMessage.builder().subject(p.text("subject")).data(p.data()).headers(headers).build();
    PublishOptions.Builder b = PublishOptions.builder();
    p.text("msg_id", b::messageId);
    p.number("ttl_ms", ttl -> b.messageTtlCustom(ttl + "ms"));
    p.millis("timeout_ms", b::streamTimeout);
    p.text("expect_stream", b::expectedStream);
    p.number("expect_last_seq", b::expectedLastSequence);
    p.number("expect_last_subject_seq", b::expectedLastSubjectSequence);
    p.text("expect_last_subject_seq_subject", b::expectedLastSubjectSequenceSubject);
    p.text("expect_last_msg_id", b::expectedLastMsgId);
    // Options bring a timeout of their own, so there are none where nothing asks for them.
    boolean plain = List.of("subject", "data", "headers").containsAll(p.names());
    PublishAck ack = connection().jetStream(options).publish(message, plain ? null : b.build());
    Fields told = fields("stream", ack.getStream(), "seq", ack.getSeqno());
    return fields("ack", told.and("duplicate", ack.isDuplicate(), "domain", ack.getDomain()));
  }

  private Fields getMessage(Call p) throws Exception {
    JetStreamManagement jsm = connection().jetStreamManagement(options);
    MessageInfo m;
    if (p.has("last_by_subject")) m = jsm.getLastMessage(p.text("stream"), p.text("last_by_subject"));
    else if (!p.has("next_by_subject")) m = jsm.getMessage(p.text("stream"), p.number("seq"));
    else if (!p.has("seq")) m = jsm.getFirstMessage(p.text("stream"), p.text("next_by_subject"));
    else m = jsm.getNextMessage(p.text("stream"), p.number("seq"), p.text("next_by_subject"));
    Long seq = m.getSeq() < 0 ? null : m.getSeq(); // -1: it was not told
    Fields body = body(m.getSubject(), m.getData(), m.getHeaders());
    return fields("message", body.and("stream", m.getStream(), "seq", seq, "time", m.getTime()));
  }

  private static Fields body(String subject, byte[] data, Headers headers) {
    return fields("subject", subject, "data", data, "headers", headers == null ? null : pairs(headers.entrySet()));
  }

  private Fields take(Message m) {
    var meta = m.metaData();
    return fields("msg", keep(m)).and(body(m.getSubject(), m.getData(), m.getHeaders()))
        .and("stream", meta.getStream(), "consumer", meta.getConsumer(), "time", meta.timestamp())
        .and("seq", meta.streamSequence(), "consumer_seq", meta.consumerSequence())
        .and("delivered", meta.deliveredCount(), "pending", meta.pendingCount());
  }

  private Pull pull(Call p, GivesOn<StreamContext, BaseConsumerContext> call) throws Exception {
    StreamContext stream = connection().getStreamContext(p.text("stream"), options);
    return new Pull(stream, call.of(stream, p));
  }

  /** What the library does not know, it drops; what is usual it leaves out, and one filter is no list to it. */
  private static ConsumerConfiguration config(Call p) throws Exception {
    var config = ConsumerConfiguration.builder().json(p.object("config").toString()).build();
    var kept = JsonParser.parseString(config.toJson()).getAsJsonObject();
    for (var asked : p.object("config").entrySet()) {
      boolean usual = List.of("0", "-1", "false", "\"\"").contains(asked.getValue().toString());
      if (!usual && !kept.has(asked.getKey()) && !asked.getKey().equals("filter_subjects"))
        throw new Unsupported(asked.getKey() + " of a consumer");
    }
    return config;
  }

  private static BaseConsumerContext ordered(StreamContext stream, Call p) throws Exception {
    var config = new OrderedConsumerConfiguration();
    p.texts("filter_subjects", config::filterSubjects);
    p.text("deliver_policy", policy -> config.deliverPolicy(DeliverPolicy.get(policy)));
    p.number("start_seq", config::startSequence);
    return stream.createOrderedConsumer(config);
  }

  private static Fields consumerInfo(Pull pull) throws Exception {
    if (!(pull.context instanceof ConsumerContext context)) throw new Unsupported("consumer.info of an ordered one");
    ConsumerInfo info = context.getConsumerInfo();
    return fields("name", info.getName(), "stream_name", info.getStreamName())
        .and("delivered", sequences(info.getDelivered()), "ack_floor", sequences(info.getAckFloor()))
        .and("num_pending", info.getNumPending(), "num_waiting", info.getNumWaiting())
        .and("num_ack_pending", info.getNumAckPending(), "num_redelivered", info.getRedelivered());
  }

  private static Fields sequences(SequenceInfo at) {
    return fields("consumer_seq", at.getConsumerSequence(), "stream_seq", at.getStreamSequence());
  }

  private Fields fetch(Pull pull, Call p) throws Exception {
    FetchConsumeOptions.Builder b = FetchConsumeOptions.builder();
    p.limit("max_messages", b::maxMessages);
    p.number("max_bytes", b::maxBytes);
    if (p.flag("no_wait")) b.noWait();
    p.number("expires_ms", b::expiresIn);
    p.text("group", b::group);
    p.number("min_pending", b::minPending);
    List<Fields> got = new ArrayList<>();
    try (FetchConsumer fetch = pull.context.fetch(b.build())) {
      for (Message m; (m = fetch.nextMessage()) != null; ) got.add(take(m));
    } catch (JetStreamStatusCheckedException e) {
      return fields("messages", got, "error", error(e));
    }
    return fields("messages", got);
  }

  private Fields next(Pull pull, Call p) throws Exception {
    Message m = p.has("expires_ms") ? pull.context.next(p.number("expires_ms")) : pull.context.next();
    return nullable("message", m == null ? null : take(m));
  }

  private MessageConsumer consume(Pull pull, Call p) throws Exception {
    ConsumeOptions.Builder b = ConsumeOptions.builder();
    p.limit("max_messages", b::batchSize);
    p.number("max_bytes", b::batchBytes);
    p.number("expires_ms", b::expiresIn);
    p.text("group", b::group);
    p.number("min_pending", b::minPending);
    String name = p.text("as");
    Dispatcher dispatcher = connection().createDispatcher();
    consumes.put(dispatcher, name);
    MessageHandler handler = m -> say(fields("event", "message", "of", name).and(take(m)));
    MessageConsumer consumer = pull.context.consume(b.build(), dispatcher, handler);
    threads.execute(() -> awaitEnd(name, consumer, dispatcher));
    return consumer;
  }

  private void stop(MessageConsumer consumer, Call p) throws Exception {
    consumer.close();
    consumes.values().remove(p.text("of"));
  }

  /** The library tells that a consume has ended only to who asks it; with a connection that is closed, it is gone. */
  private void awaitEnd(String name, MessageConsumer consumer, Dispatcher dispatcher) {
    while (dispatcher.isActive() && consumes.containsKey(dispatcher) && !consumer.isFinished())
      LockSupport.parkNanos(20_000_000);
    consumes.remove(dispatcher);
    if (dispatcher.isActive()) say(fields("event", "end", "of", name));
  }

  private void ack(Call p) throws Exception {
    // Without a timeout that is asked for: as long as the library waits for any other answer.
    var connecting = connection().getOptions().getConnectionTimeout();
    var usual = Objects.requireNonNullElse(options.getRequestTimeout(), connecting);
    for (String name : p.texts("messages")) {
      Message message = thing(name, Message.class);
      switch (p.text("kind") + (p.has("delay_ms") ? " later" : "")) {
        case "ack" -> message.ack();
        case "double" -> message.ackSync(p.has("timeout_ms") ? p.millis("timeout_ms") : usual);
        case "nak" -> message.nak();
        case "nak later" -> message.nakWithDelay(p.millis("delay_ms"));
        case "progress" -> message.inProgress();
        case "term" -> message.term();
        default -> throw new Unsupported("delay_ms of " + p.text("kind"));
      }
    }
  }

  private Fields getKey(KeyValue kv, Call p) throws Exception {
    KeyValueEntry entry = p.has("revision") ? kv.get(p.text("key"), p.number("revision")) : kv.get(p.text("key"));
    if (entry == null) return nullable("entry", null);
    Fields told = fields("key", entry.getKey(), "data", entry.getValue(), "revision", entry.getRevision());
    return fields("entry", told.and("operation", entry.getOperation().name().toLowerCase()));
  }

  private Fields putObject(ObjectStore store, Call p) throws Exception {
    ObjectInfo info = store.put(p.text("name"), p.data());
    return fields("info", fields("size", info.getSize(), "chunks", info.getChunks(), "digest", info.getDigest()));
  }

  private Fields getObject(ObjectStore store, Call p) throws Exception {
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    store.get(p.text("name"), data);
    return fields("data", data.toByteArray());
  }
}
