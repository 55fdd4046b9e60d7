package jetproof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static jetproof.Values.*;

import com.google.gson.*;
import io.nats.client.*;
import io.nats.client.api.*;
import io.nats.client.impl.*;
import io.nats.client.support.Status;
import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Jetproof's adapter of jnats: calls on standard input, what came of them on standard output. */
public final class Adapter implements ConnectionListener, ErrorListener {
  private interface Call {
    Object of(JsonObject p) throws Exception;
  }

  private interface Deed {
    void of(JsonObject p) throws Exception;
  }

  private record Pull(StreamContext stream, BaseConsumerContext context) {}

  private final Map<String, Call> calls = new LinkedHashMap<>();
  private final Map<String, List<String>> parameters = new HashMap<>();
  private final Map<String, Object> things = new ConcurrentHashMap<>();
  private final Map<Dispatcher, String> consumes = new ConcurrentHashMap<>();
  private final AtomicLong messages = new AtomicLong();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final PrintStream out = System.out; // before anything else is printed there
  private Connection connection;
  private JetStreamOptions options;

  public static void main(String[] arguments) throws Exception {
    Adapter adapter = new Adapter();
    System.setOut(System.err); // standard output is for the protocol alone
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JsonObject call = JsonParser.parseString(line).getAsJsonObject();
      adapter.threads.execute(() -> adapter.answer(call));
    }
    adapter.close();
    System.exit(0);
  }

  /** What the library can do, each operation with its parameters; all else is unsupported. */
  private Adapter() {
    gives("hello protocol", p -> hello());
    does(
        "connect url name user password token inbox_prefix tls_ca reconnect_wait_ms"
            + " max_reconnects timeout_ms",
        this::connect);
    does("close", p -> close());
    gives(
        "publish subject data headers msg_id expect_stream expect_last_seq ttl_ms timeout_ms"
            + " expect_last_subject_seq expect_last_subject_seq_subject expect_last_msg_id",
        p -> object("ack", publish(p)));
    // One call for both: the library takes direct get where the stream allows it.
    gives("direct.get stream seq last_by_subject next_by_subject", this::getMessage);
    gives("message.get stream seq last_by_subject", this::getMessage);
    does("consumer.get as stream consumer", this::getConsumer);
    does("consumer.create as stream config", this::createConsumer);
    gives("consumer.info of", this::consumerInfo);
    does("consumer.delete of", this::deleteConsumer);
    does("ordered.get as stream filter_subjects deliver_policy start_seq", this::getOrdered);
    gives("fetch of max_messages max_bytes expires_ms no_wait group min_pending", this::fetch);
    gives("next of expires_ms", this::next);
    does("consume of as max_messages max_bytes expires_ms group min_pending", this::consume);
    does("consume.stop of", this::stop);
    does("consume.drain of", p -> of(p, MessageConsumer.class).stop());
    does("ack messages kind delay_ms timeout_ms", this::ack);
    does("kv.open as bucket", this::openBucket);
    gives("kv.get of key revision", this::getKey);
    gives("kv.put of key data", p -> object("revision", kv(p).put(text(p, "key"), data(p))));
    gives("kv.create of key data", p -> object("revision", kv(p).create(text(p, "key"), data(p))));
    gives("kv.update of key data revision", this::updateKey);
    does("kv.delete of key", p -> kv(p).delete(text(p, "key")));
    does("kv.purge of key", p -> kv(p).purge(text(p, "key")));
    gives("kv.list of", p -> object("keys", kv(p).keys()));
    does("object.open as bucket", this::openObjects);
    gives("object.put of name data", this::putObject);
    gives("object.get of name", this::getObject);
  }

  private void gives(String signature, Call call) {
    List<String> words = List.of(signature.split(" "));
    calls.put(words.get(0), call);
    parameters.put(words.get(0), words.subList(1, words.size()));
  }

  private void does(String signature, Deed deed) {
    gives(
        signature,
        p -> {
          deed.of(p);
          return object();
        });
  }

  private void answer(JsonObject call) {
    JsonElement id = call.remove("id");
    String name = call.remove("op").getAsString();
    try {
      if (!calls.containsKey(name)) throw new Unsupported(name);
      for (String given : call.keySet())
        if (!parameters.get(name).contains(given)) throw new Unsupported(given + " of " + name);
      say(object("id", id, "ok", calls.get(name).of(call)));
    } catch (Unsupported e) {
      say(object("id", id, "unsupported", "jnats has no API for " + e.getMessage()));
    } catch (Throwable e) {
      say(object("id", id, "error", error(e)));
    }
  }

  private synchronized void say(Map<String, Object> line) {
    out.writeBytes((GSON.toJson(line) + "\n").getBytes(UTF_8));
    out.flush();
  }

  private <T> T of(JsonObject p, Class<T> type) {
    return thing(text(p, "of"), type);
  }

  private <T> T thing(String name, Class<T> type) {
    if (type.isInstance(things.get(name))) return type.cast(things.get(name));
    throw new NoSuchElementException("the adapter has nothing named " + name);
  }

  private Object hello() {
    return object(
        "protocol",
        1,
        "library",
        "jnats",
        "version",
        Nats.CLIENT_VERSION,
        "language",
        "java",
        "runtime",
        "java " + Runtime.version(),
        "parts",
        Map.of("jnats", Nats.CLIENT_VERSION),
        "capabilities",
        calls.keySet(),
        "claims",
        Map.of("adr-31", 1, "adr-37", 3));
  }

  private void connect(JsonObject p) throws Exception {
    Options.Builder b = Options.builder().connectionListener(this).errorListener(this);
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
    connection = Nats.connect(b.build());
  }

  private void close() throws InterruptedException {
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
    return pubAck(connection.jetStream(options).publish(message.build(), plain ? null : b.build()));
  }

  private Object getMessage(JsonObject p) throws Exception {
    JetStreamManagement jsm = connection.jetStreamManagement(options);
    String stream = text(p, "stream");
    MessageInfo message;
    if (p.has("last_by_subject")) message = jsm.getLastMessage(stream, text(p, "last_by_subject"));
    else if (!p.has("next_by_subject")) message = jsm.getMessage(stream, number(p, "seq"));
    else if (!p.has("seq")) message = jsm.getFirstMessage(stream, text(p, "next_by_subject"));
    else message = jsm.getNextMessage(stream, number(p, "seq"), text(p, "next_by_subject"));
    return object("message", stored(message));
  }

  private StreamContext stream(JsonObject p) throws Exception {
    return connection.getStreamContext(text(p, "stream"), options);
  }

  private void getConsumer(JsonObject p) throws Exception {
    StreamContext stream = stream(p);
    things.put(text(p, "as"), new Pull(stream, stream.getConsumerContext(text(p, "consumer"))));
  }

  private void createConsumer(JsonObject p) throws Exception {
    StreamContext stream = stream(p);
    var config = ConsumerConfiguration.builder().json(p.get("config").toString()).build();
    var kept = JsonParser.parseString(config.toJson()).getAsJsonObject();
    for (String name : p.getAsJsonObject("config").keySet())
      if (!kept.has(name) && !name.equals("filter_subjects")) // one is sent as filter_subject
      throw new Unsupported(name + " of a consumer");
    things.put(text(p, "as"), new Pull(stream, stream.createOrUpdateConsumer(config)));
  }

  private void getOrdered(JsonObject p) throws Exception {
    StreamContext stream = stream(p);
    var config = new OrderedConsumerConfiguration();
    given(p, "filter_subjects", v -> config.filterSubjects(texts(v)));
    given(p, "deliver_policy", v -> config.deliverPolicy(DeliverPolicy.get(v.getAsString())));
    given(p, "start_seq", v -> config.startSequence(v.getAsLong()));
    things.put(text(p, "as"), new Pull(stream, stream.createOrderedConsumer(config)));
  }

  private Object consumerInfo(JsonObject p) throws Exception {
    if (of(p, Pull.class).context instanceof ConsumerContext consumer)
      return object("info", info(consumer.getConsumerInfo()));
    throw new Unsupported("information about an ordered consumer");
  }

  private void deleteConsumer(JsonObject p) throws Exception {
    Pull pull = of(p, Pull.class);
    pull.stream.deleteConsumer(pull.context.getConsumerName());
  }

  private Map<String, Object> take(Message message) {
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
      return object("messages", got, "error", error(e));
    }
    return object("messages", got);
  }

  private Object next(JsonObject p) throws Exception {
    BaseConsumerContext context = of(p, Pull.class).context;
    Message m = p.has("expires_ms") ? context.next(number(p, "expires_ms")) : context.next();
    return object("message", m == null ? JsonNull.INSTANCE : take(m));
  }

  private void consume(JsonObject p) throws Exception {
    ConsumeOptions.Builder b = ConsumeOptions.builder();
    given(p, "max_messages", v -> b.batchSize(v.getAsInt()));
    given(p, "max_bytes", v -> b.batchBytes(v.getAsLong()));
    given(p, "expires_ms", v -> b.expiresIn(v.getAsLong()));
    given(p, "group", v -> b.group(v.getAsString()));
    given(p, "min_pending", v -> b.minPending(v.getAsLong()));
    String name = text(p, "as");
    Dispatcher dispatcher = connection.createDispatcher(); // tells of which consume a notice is
    consumes.put(dispatcher, name);
    MessageHandler handler =
        m -> {
          Map<String, Object> event = object("event", "message", "of", name);
          event.putAll(take(m));
          say(event);
        };
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
    if (consumes.values().remove(name)) say(object("event", "end", "of", name));
  }

  private void stop(JsonObject p) throws Exception {
    of(p, MessageConsumer.class).close();
    end(text(p, "of"));
  }

  private void ack(JsonObject p) throws Exception {
    var timeout = p.has("timeout_ms") ? millis(p.get("timeout_ms")) : options.getRequestTimeout();
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

  private void openBucket(JsonObject p) throws Exception {
    KeyValueOptions asked = KeyValueOptions.builder().jetStreamOptions(options).build();
    things.put(text(p, "as"), connection.keyValue(text(p, "bucket"), asked));
  }

  private KeyValue kv(JsonObject p) {
    return of(p, KeyValue.class);
  }

  private Object getKey(JsonObject p) throws Exception {
    String key = text(p, "key");
    var entry = p.has("revision") ? kv(p).get(key, number(p, "revision")) : kv(p).get(key);
    return object("entry", entry(entry));
  }

  private Object updateKey(JsonObject p) throws Exception {
    return object("revision", kv(p).update(text(p, "key"), data(p), number(p, "revision")));
  }

  private void openObjects(JsonObject p) throws Exception {
    ObjectStoreOptions asked = ObjectStoreOptions.builder(options).build();
    things.put(text(p, "as"), connection.objectStore(text(p, "bucket"), asked));
  }

  private Object putObject(JsonObject p) throws Exception {
    return object("info", info(of(p, ObjectStore.class).put(text(p, "name"), data(p))));
  }

  private Object getObject(JsonObject p) throws Exception {
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    of(p, ObjectStore.class).get(text(p, "name"), data);
    return object("data", data.toByteArray());
  }

  @Override
  public void connectionEvent(Connection c, Events type) {
    switch (type) {
      case DISCONNECTED, RECONNECTED, CLOSED ->
          say(object("event", "connection", "kind", type.getEvent(), "name", type.name()));
      default -> {} // nothing that the protocol has a word for
    }
  }

  @Override
  public void errorOccurred(Connection c, String text) {
    told("errorOccurred", null, text);
  }

  @Override
  public void exceptionOccurred(Connection c, Exception e) {
    say(
        object(
            "event",
            "connection",
            "kind",
            "error",
            "name",
            "exceptionOccurred",
            "error",
            error(e)));
  }

  @Override
  public void heartbeatAlarm(Connection c, JetStreamSubscription sub, long seq, long consumerSeq) {
    told("heartbeatAlarm", sub, "no heartbeat after " + seq + "/" + consumerSeq);
  }

  @Override
  public void unhandledStatus(Connection c, JetStreamSubscription sub, Status status) {
    told("unhandledStatus", sub, status);
  }

  @Override
  public void pullStatusWarning(Connection c, JetStreamSubscription sub, Status status) {
    told("pullStatusWarning", sub, status);
  }

  @Override
  public void pullStatusError(Connection c, JetStreamSubscription sub, Status status) {
    told("pullStatusError", sub, status);
  }

  /** A notice if it is about a consume: a fetch and the connection have no name to tell. */
  private void told(String method, JetStreamSubscription sub, Object what) {
    Dispatcher dispatcher = sub == null ? null : sub.getDispatcher();
    String consume = dispatcher == null ? null : consumes.get(dispatcher);
    say(
        consume != null
            ? object("event", "notice", "of", consume, "error", notice(method, what))
            : object(
                "event",
                "connection",
                "kind",
                "error",
                "name",
                method,
                "error",
                notice(method, what)));
  }
}
