package jetproof;

import static jetproof.Values.*;

import com.google.gson.*;
import io.nats.client.*;
import io.nats.client.api.*;
import io.nats.client.impl.*;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Jetproof's adapter of jnats: its public API, call by call. */
public final class Adapter extends Protocol implements ConnectionListener {
  private record Pull(StreamContext stream, BaseConsumerContext context) {}

  /** The names of consumes by their dispatchers, which tell of which one a notice is. */
  private final Map<Dispatcher, String> consumes = new ConcurrentHashMap<>();

  private final AtomicLong messages = new AtomicLong();
  private final ErrorListener errors =
      (ErrorListener)
          Proxy.newProxyInstance(
              getClass().getClassLoader(), new Class<?>[] {ErrorListener.class}, this::told);
  private Connection connection;
  private JetStreamOptions options;
  private KeyValueOptions forKeys;
  private ObjectStoreOptions forObjects;

  public static void main(String[] arguments) throws Exception {
    new Adapter().serve();
  }

  /** What the library can do, each operation with its parameters; all else is unsupported. */
  private Adapter() {
    does(
        "connect url name user password token inbox_prefix tls_ca reconnect_wait_ms"
            + " max_reconnects timeout_ms",
        this::connect);
    does("close", p -> close());
    gives(
        "publish subject data headers msg_id expect_stream expect_last_seq ttl_ms timeout_ms"
            + " expect_last_subject_seq expect_last_subject_seq_subject expect_last_msg_id",
        p -> with("ack", publish(p)));
    // One call for both: the library takes direct get where the stream allows it.
    gives("direct.get stream seq last_by_subject next_by_subject", this::getMessage);
    gives("message.get stream seq last_by_subject", this::getMessage);
    does("consumer.get as stream consumer", this::getConsumer);
    does("consumer.create as stream config", this::createConsumer);
    gives("consumer.info of", p -> with("info", consumerInfo(p)));
    does(
        "consumer.delete of",
        p -> of(p, Pull.class).stream.deleteConsumer(of(p, Pull.class).context.getConsumerName()));
    does("ordered.get as stream filter_subjects deliver_policy start_seq", this::getOrdered);
    gives("fetch of max_messages max_bytes expires_ms no_wait group min_pending", this::fetch);
    gives("next of expires_ms", this::next);
    does("consume of as max_messages max_bytes expires_ms group min_pending", this::consume);
    does("consume.stop of", this::stop);
    does("consume.drain of", p -> of(p, MessageConsumer.class).stop());
    does("ack messages kind delay_ms timeout_ms", this::ack);
    does("kv.open as bucket", p -> keep(p, connection().keyValue(text(p, "bucket"), forKeys)));
    gives("kv.get of key revision", p -> with("entry", entry(getKey(p))));
    gives("kv.put of key data", p -> with("revision", kv(p).put(text(p, "key"), data(p))));
    gives("kv.create of key data", p -> with("revision", kv(p).create(text(p, "key"), data(p))));
    gives(
        "kv.update of key data revision",
        p -> with("revision", kv(p).update(text(p, "key"), data(p), number(p, "revision"))));
    does("kv.delete of key", p -> kv(p).delete(text(p, "key")));
    does("kv.purge of key", p -> kv(p).purge(text(p, "key")));
    gives("kv.list of", p -> with("keys", kv(p).keys()));
    does(
        "object.open as bucket",
        p -> keep(p, connection().objectStore(text(p, "bucket"), forObjects)));
    gives(
        "object.put of name data",
        p -> with("info", info(of(p, ObjectStore.class).put(text(p, "name"), data(p)))));
    gives("object.get of name", this::getObject);
  }

  private void connect(JsonObject p) throws Exception {
    Options.Builder b = Options.builder().connectionListener(this).errorListener(errors);
    b.server(text(p, "url"));
    given(p, "name", v -> b.connectionName(v.getAsString()));
    given(p, "user", v -> b.userInfo(v.getAsString(), text(p, "password")));
    given(p, "token", v -> b.token(v.getAsString().toCharArray()));
    given(p, "inbox_prefix", v -> b.inboxPrefix(v.getAsString()));
    given(p, "reconnect_wait_ms", v -> b.reconnectWait(millis(v)));
    given(p, "max_reconnects", v -> b.maxReconnects(v.getAsInt()));
    if (p.has("tls_ca")) b.sslContext(trusting(text(p, "tls_ca")));
    JetStreamOptions.Builder js = JetStreamOptions.builder();
    given(p, "timeout_ms", v -> js.requestTimeout(millis(v)));
    options = js.build();
    forKeys = KeyValueOptions.builder(options).build();
    forObjects = ObjectStoreOptions.builder(options).build();
    connection = Nats.connect(b.build());
  }

  private Connection connection() {
    if (connection == null) throw new NotOpen("the connection");
    return connection;
  }

  @Override
  protected void close() throws InterruptedException {
    consumes.clear();
    things.clear();
    if (connection != null) connection.close();
    connection = null;
  }

  private Object publish(JsonObject p) throws Exception {
    var message = NatsMessage.builder().subject(text(p, "subject")).data(data(p));
    given(p, "headers", v -> message.headers(headers(v)));
    PublishOptions.Builder b = PublishOptions.builder();
    given(p, "msg_id", v -> b.messageId(v.getAsString()));
    given(p, "expect_stream", v -> b.expectedStream(v.getAsString()));
    given(p, "expect_last_seq", v -> b.expectedLastSequence(v.getAsLong()));
    given(p, "expect_last_subject_seq", v -> b.expectedLastSubjectSequence(v.getAsLong()));
    given(
        p,
        "expect_last_subject_seq_subject",
        v -> b.expectedLastSubjectSequenceSubject(v.getAsString()));
    given(p, "expect_last_msg_id", v -> b.expectedLastMsgId(v.getAsString()));
    given(p, "ttl_ms", v -> b.messageTtlCustom(v.getAsLong() + "ms"));
    given(p, "timeout_ms", v -> b.streamTimeout(millis(v)));
    // Options bring a timeout of their own, so there are none where nothing asks for them.
    boolean plain = List.of("subject", "data", "headers").containsAll(p.keySet());
    return pubAck(
        connection().jetStream(options).publish(message.build(), plain ? null : b.build()));
  }

  private Object getMessage(JsonObject p) throws Exception {
    JetStreamManagement jsm = connection().jetStreamManagement(options);
    String stream = text(p, "stream");
    MessageInfo message;
    if (p.has("last_by_subject")) message = jsm.getLastMessage(stream, text(p, "last_by_subject"));
    else if (!p.has("next_by_subject")) message = jsm.getMessage(stream, number(p, "seq"));
    else if (!p.has("seq")) message = jsm.getFirstMessage(stream, text(p, "next_by_subject"));
    else message = jsm.getNextMessage(stream, number(p, "seq"), text(p, "next_by_subject"));
    return with("message", stored(message));
  }

  private StreamContext stream(JsonObject p) throws Exception {
    return connection().getStreamContext(text(p, "stream"), options);
  }

  private void getConsumer(JsonObject p) throws Exception {
    StreamContext stream = stream(p);
    keep(p, new Pull(stream, stream.getConsumerContext(text(p, "consumer"))));
  }

  private void createConsumer(JsonObject p) throws Exception {
    StreamContext stream = stream(p);
    var config = ConsumerConfiguration.builder().json(p.get("config").toString()).build();
    var kept = JsonParser.parseString(config.toJson()).getAsJsonObject();
    for (var asked : p.getAsJsonObject("config").entrySet())
      if (!kept.has(asked.getKey()) && !leftOut(asked.getKey(), asked.getValue().toString()))
        throw new Unsupported(asked.getKey() + " of a consumer");
    keep(p, new Pull(stream, stream.createOrUpdateConsumer(config)));
  }

  private void getOrdered(JsonObject p) throws Exception {
    StreamContext stream = stream(p);
    var config = new OrderedConsumerConfiguration();
    given(p, "filter_subjects", v -> config.filterSubjects(texts(v)));
    given(p, "deliver_policy", v -> config.deliverPolicy(DeliverPolicy.get(v.getAsString())));
    given(p, "start_seq", v -> config.startSequence(v.getAsLong()));
    keep(p, new Pull(stream, stream.createOrderedConsumer(config)));
  }

  private Object consumerInfo(JsonObject p) throws Exception {
    if (of(p, Pull.class).context instanceof ConsumerContext c) return info(c.getConsumerInfo());
    throw new Unsupported("information about an ordered consumer");
  }

  private Fields take(Message message) {
    String name = "m" + messages.incrementAndGet();
    things.put(name, message);
    return message(name, message);
  }

  private Object fetch(JsonObject p) throws Exception {
    FetchConsumeOptions.Builder b = FetchConsumeOptions.builder();
    given(p, "max_messages", v -> b.maxMessages(v.getAsInt()));
    given(p, "max_bytes", v -> b.maxBytes(v.getAsLong()));
    if (p.has("no_wait") && p.get("no_wait").getAsBoolean()) b.noWait();
    given(p, "expires_ms", v -> b.expiresIn(v.getAsLong()));
    given(p, "group", v -> b.group(v.getAsString()));
    given(p, "min_pending", v -> b.minPending(v.getAsLong()));
    List<Object> got = new ArrayList<>();
    try (FetchConsumer fetch = of(p, Pull.class).context.fetch(b.build())) {
      for (Message m; (m = fetch.nextMessage()) != null; ) got.add(take(m));
    } catch (JetStreamStatusCheckedException e) {
      return with("messages", got).with("error", error(e));
    }
    return with("messages", got);
  }

  private Object next(JsonObject p) throws Exception {
    BaseConsumerContext context = of(p, Pull.class).context;
    Message m = p.has("expires_ms") ? context.next(number(p, "expires_ms")) : context.next();
    return with("message", m == null ? JsonNull.INSTANCE : take(m));
  }

  private void consume(JsonObject p) throws Exception {
    ConsumeOptions.Builder b = ConsumeOptions.builder();
    given(p, "max_messages", v -> b.batchSize(v.getAsInt()));
    given(p, "max_bytes", v -> b.batchBytes(v.getAsLong()));
    given(p, "expires_ms", v -> b.expiresIn(v.getAsLong()));
    given(p, "group", v -> b.group(v.getAsString()));
    given(p, "min_pending", v -> b.minPending(v.getAsLong()));
    String name = text(p, "as");
    Dispatcher dispatcher = connection().createDispatcher();
    consumes.put(dispatcher, name);
    MessageHandler handler = m -> say(take(m).with("event", "message").with("of", name));
    MessageConsumer consumer = of(p, Pull.class).context.consume(b.build(), dispatcher, handler);
    things.put(name, consumer);
    threads.execute(() -> awaitEnd(name, consumer));
  }

  /** The library tells that a consume has ended only to who asks it. */
  private void awaitEnd(String name, MessageConsumer consumer) {
    while (!consumer.isFinished() && consumes.containsValue(name))
      LockSupport.parkNanos(20_000_000);
    end(name);
  }

  private void end(String name) {
    if (consumes.values().remove(name)) say(with("event", "end").with("of", name));
  }

  private void stop(JsonObject p) throws Exception {
    of(p, MessageConsumer.class).close();
    end(text(p, "of"));
  }

  private void ack(JsonObject p) throws Exception {
    // Without a timeout that is asked for: as long as the library waits for any other answer.
    var usual = options.getRequestTimeout();
    if (usual == null) usual = connection().getOptions().getConnectionTimeout();
    var timeout = p.has("timeout_ms") ? millis(p.get("timeout_ms")) : usual;
    for (String name : texts(p.get("messages"))) {
      Message message = thing(name, Message.class);
      switch (text(p, "kind")) {
        case "ack" -> message.ack();
        case "double" -> message.ackSync(timeout);
        case "progress" -> message.inProgress();
        case "term" -> message.term();
        case "nak" -> {
          if (p.has("delay_ms")) message.nakWithDelay(millis(p.get("delay_ms")));
          else message.nak();
        }
        default -> throw new Unsupported("an ack " + text(p, "kind"));
      }
    }
  }

  private KeyValue kv(JsonObject p) {
    return of(p, KeyValue.class);
  }

  private KeyValueEntry getKey(JsonObject p) throws Exception {
    String key = text(p, "key");
    return p.has("revision") ? kv(p).get(key, number(p, "revision")) : kv(p).get(key);
  }

  private Object getObject(JsonObject p) throws Exception {
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    of(p, ObjectStore.class).get(text(p, "name"), data);
    return with("data", data.toByteArray());
  }

  @Override
  public void connectionEvent(Connection c, Events type) {
    switch (type) {
      case DISCONNECTED, RECONNECTED, CLOSED -> say(event(type.getEvent(), type.name()));
      default -> {} // nothing that the protocol has a word for
    }
  }

  /** What the listener of errors was told, under the name of the method: the connection first. */
  private Object told(Object listener, Method method, Object[] told) {
    Fields error = notice(method.getName(), told);
    String consume =
        told.length > 1 && told[1] instanceof JetStreamSubscription s ? consumeOf(s) : null;
    if (consume != null) say(with("event", "notice").with("of", consume).with("error", error));
    else say(event("error", method.getName()).with("error", error));
    return null;
  }

  /** By the dispatcher; a subscription that the library has given up has none any more. */
  private String consumeOf(JetStreamSubscription about) {
    if (about.getDispatcher() != null) return consumes.get(about.getDispatcher());
    for (String name : consumes.values())
      if (things.get(name) instanceof MessageConsumer consumer
          && consumer.getConsumerName().equals(about.getConsumerName())) return name;
    return null;
  }
}
