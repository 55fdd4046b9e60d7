package jetproof;

import com.google.gson.*;
import io.nats.client.*;
import io.nats.client.api.*;
import io.nats.client.impl.Headers;
import io.nats.client.support.Status;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The values of the protocol: what was given, for the library, and what the library gave. */
final class Values {
  static final Gson GSON =
      new GsonBuilder()
          .serializeNulls()
          .disableHtmlEscaping()
          .setLongSerializationPolicy(LongSerializationPolicy.STRING)
          .create();

  static final class Unsupported extends Exception {
    Unsupported(String what) {
      super(what);
    }
  }

  static void given(JsonObject p, String name, Consumer<JsonElement> use) {
    if (p.has(name)) use.accept(p.get(name));
  }

  static String text(JsonObject p, String name) {
    return p.get(name).getAsString();
  }

  static long number(JsonObject p, String name) {
    return p.get(name).getAsLong();
  }

  static Duration millis(JsonElement value) {
    return Duration.ofMillis(value.getAsLong());
  }

  static byte[] data(JsonObject p) {
    return p.has("data") ? Base64.getDecoder().decode(text(p, "data")) : new byte[0];
  }

  static List<String> texts(JsonElement value) {
    return value.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
  }

  static Headers headers(JsonElement pairs) {
    Headers headers = new Headers();
    pairs.getAsJsonArray().forEach(p -> headers.add(texts(p).get(0), texts(p).get(1)));
    return headers;
  }

  static SSLContext trusting(String file) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (InputStream in = new FileInputStream(file)) {
      store.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  /** An object of names and values in turn; what is null is left out. */
  static Map<String, Object> object(Object... pairs) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2)
      if (pairs[i + 1] != null) object.put((String) pairs[i], value(pairs[i + 1]));
    return object;
  }

  private static Object value(Object value) {
    if (value instanceof byte[] data) return Base64.getEncoder().encodeToString(data);
    if (value instanceof ZonedDateTime t) return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(t);
    if (!(value instanceof Headers headers)) return value;
    List<List<String>> pairs = new ArrayList<>();
    headers.forEach((name, values) -> values.forEach(v -> pairs.add(List.of(name, v))));
    return pairs;
  }

  static Object error(Throwable e) {
    var error =
        object("type", e.getClass().getSimpleName(), "text", String.valueOf(e.getMessage()));
    Throwable cause = e instanceof JetStreamStatusCheckedException ? e.getCause() : e;
    if (cause instanceof JetStreamStatusException s) error.putAll(status(s.getStatus()));
    if (e instanceof JetStreamApiException api) {
      error.put("code", api.getErrorCode());
      error.put("err_code", api.getApiErrorCode());
      error.put("description", api.getErrorDescription());
    }
    return error;
  }

  private static Map<String, Object> status(Status status) {
    return object("status", status.getCode(), "description", status.getMessage());
  }

  /** What a listener was told, under the name of its method. */
  static Map<String, Object> notice(String method, Object what) {
    Map<String, Object> notice = object("type", method, "text", String.valueOf(what));
    if (what instanceof Status status) notice.putAll(status(status));
    return notice;
  }

  static Object pubAck(PublishAck ack) {
    return object(
        "stream", ack.getStream(),
        "seq", ack.getSeqno(),
        "duplicate", ack.isDuplicate(),
        "domain", ack.getDomain());
  }

  static Map<String, Object> message(String name, Message message) {
    return object(
        "msg", name,
        "subject", message.getSubject(),
        "data", message.getData(),
        "headers", message.getHeaders(),
        "stream", message.metaData().getStream(),
        "consumer", message.metaData().getConsumer(),
        "seq", message.metaData().streamSequence(),
        "consumer_seq", message.metaData().consumerSequence(),
        "delivered", message.metaData().deliveredCount(),
        "pending", message.metaData().pendingCount(),
        "time", message.metaData().timestamp());
  }

  static Object stored(MessageInfo message) {
    return object(
        "subject", message.getSubject(),
        "data", message.getData(),
        "headers", message.getHeaders(),
        "stream", message.getStream(),
        "seq", message.getSeq(),
        "time", message.getTime());
  }

  static Object entry(KeyValueEntry entry) {
    if (entry == null) return JsonNull.INSTANCE;
    return object(
        "key", entry.getKey(),
        "data", entry.getValue(),
        "revision", entry.getRevision(),
        "operation", entry.getOperation().name().toLowerCase());
  }

  static Object info(ConsumerInfo info) {
    return object(
        "name", info.getName(),
        "stream_name", info.getStreamName(),
        "delivered", sequences(info.getDelivered()),
        "ack_floor", sequences(info.getAckFloor()),
        "num_pending", info.getNumPending(),
        "num_waiting", info.getNumWaiting(),
        "num_ack_pending", info.getNumAckPending(),
        "num_redelivered", info.getRedelivered());
  }

  private static Object sequences(SequenceInfo at) {
    return object("consumer_seq", at.getConsumerSequence(), "stream_seq", at.getStreamSequence());
  }

  static Object info(ObjectInfo info) {
    return object("size", info.getSize(), "chunks", info.getChunks(), "digest", info.getDigest());
  }
}
