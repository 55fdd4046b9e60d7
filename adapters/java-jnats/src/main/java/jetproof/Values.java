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
  private static final DateTimeFormatter RFC_3339 = DateTimeFormatter.ISO_OFFSET_DATE_TIME;

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

  /** There is nothing that the library could be called on. */
  static final class NotOpen extends RuntimeException {
    NotOpen(String what) {
      super(what + " is not open");
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

  /** What the library knows and does not send: defaults, and one filter as a list. */
  static boolean leftOut(String name, String value) {
    return name.equals("filter_subjects") || List.of("0", "-1", "false", "\"\"").contains(value);
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

  /** An object of the protocol; what is null is left out. */
  static final class Fields extends LinkedHashMap<String, Object> {
    Fields with(String name, Object value) {
      if (value instanceof byte[] data) put(name, Base64.getEncoder().encodeToString(data));
      else if (value instanceof ZonedDateTime time) put(name, RFC_3339.format(time));
      else if (value instanceof Headers headers) put(name, pairs(headers));
      else if (value != null) put(name, value);
      return this;
    }
  }

  static Fields with(String name, Object value) {
    return new Fields().with(name, value);
  }

  private static List<List<String>> pairs(Headers headers) {
    List<List<String>> pairs = new ArrayList<>();
    headers.forEach((name, values) -> values.forEach(value -> pairs.add(List.of(name, value))));
    return pairs;
  }

  static Fields error(Throwable e) {
    Fields error = with("type", e.getClass().getSimpleName()).with("text", e.getMessage() + "");
    if (e instanceof JetStreamApiException api)
      error
          .with("code", api.getErrorCode())
          .with("err_code", api.getApiErrorCode())
          .with("description", api.getErrorDescription());
    Throwable cause = e instanceof JetStreamStatusCheckedException ? e.getCause() : e;
    if (cause instanceof JetStreamStatusException status) addStatus(error, status.getStatus());
    return error;
  }

  /** What a listener was told, under the name of its method; the connection comes first. */
  static Fields notice(String method, Object[] told) {
    Object last = told[told.length - 1];
    if (last instanceof Exception e) return error(e);
    boolean says = last instanceof String || last instanceof Status;
    Fields notice = with("type", method).with("text", says ? last.toString() : method);
    if (last instanceof Status status) addStatus(notice, status);
    return notice;
  }

  private static void addStatus(Fields error, Status status) {
    error.with("status", status.getCode()).with("description", status.getMessage());
  }

  static Fields pubAck(PublishAck ack) {
    return with("stream", ack.getStream())
        .with("seq", ack.getSeqno())
        .with("duplicate", ack.isDuplicate())
        .with("domain", ack.getDomain());
  }

  static Fields message(String name, Message message) {
    return with("msg", name)
        .with("subject", message.getSubject())
        .with("data", message.getData())
        .with("headers", message.getHeaders())
        .with("stream", message.metaData().getStream())
        .with("consumer", message.metaData().getConsumer())
        .with("seq", message.metaData().streamSequence())
        .with("consumer_seq", message.metaData().consumerSequence())
        .with("delivered", message.metaData().deliveredCount())
        .with("pending", message.metaData().pendingCount())
        .with("time", message.metaData().timestamp());
  }

  static Fields stored(MessageInfo message) {
    return with("subject", message.getSubject())
        .with("data", message.getData())
        .with("headers", message.getHeaders())
        .with("stream", message.getStream())
        .with("seq", message.getSeq() < 0 ? null : message.getSeq()) // -1: it was not told
        .with("time", message.getTime());
  }

  static Object entry(KeyValueEntry entry) {
    if (entry == null) return JsonNull.INSTANCE;
    return with("key", entry.getKey())
        .with("data", entry.getValue())
        .with("revision", entry.getRevision())
        .with("operation", entry.getOperation().name().toLowerCase());
  }

  static Fields info(ConsumerInfo info) {
    return with("name", info.getName())
        .with("stream_name", info.getStreamName())
        .with("delivered", sequences(info.getDelivered()))
        .with("ack_floor", sequences(info.getAckFloor()))
        .with("num_pending", info.getNumPending())
        .with("num_waiting", info.getNumWaiting())
        .with("num_ack_pending", info.getNumAckPending())
        .with("num_redelivered", info.getRedelivered());
  }

  private static Fields sequences(SequenceInfo at) {
    return with("consumer_seq", at.getConsumerSequence())
        .with("stream_seq", at.getStreamSequence());
  }

  static Fields info(ObjectInfo info) {
    return with("size", info.getSize())
        .with("chunks", info.getChunks())
        .with("digest", info.getDigest());
  }

  static Fields event(String kind, String name) {
    return with("event", "connection").with("kind", kind).with("name", name);
  }
}
