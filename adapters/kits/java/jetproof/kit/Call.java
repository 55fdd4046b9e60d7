package jetproof.kit;

import com.google.gson.*;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.*;
import java.util.function.*;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The parameters of a call, by name and type. Those with a second argument hand the parameter to it if it was given, so
 * that the library's own default acts if not.
 */
public final class Call {
  private final JsonObject given;

  Call(JsonObject given) {
    this.given = given;
  }

  public Set<String> names() {
    return given.keySet();
  }

  public boolean has(String name) {
    return given.has(name);
  }

  public JsonObject object(String name) {
    return given.getAsJsonObject(name);
  }

  public String text(String name) {
    return given.get(name).getAsString();
  }

  public void text(String name, Consumer<String> use) {
    if (has(name)) use.accept(text(name));
  }

  public List<String> texts(String name) {
    return texts(given.get(name));
  }

  public void texts(String name, Consumer<List<String>> use) {
    if (has(name)) use.accept(texts(name));
  }

  /** A number, or a sequence, a revision or a count, which come as text; a long has no room for the largest. */
  public long number(String name) {
    try {
      return Long.parseLong(text(name));
    } catch (NumberFormatException e) {
      throw new Unsupported(name + " " + text(name));
    }
  }

  public void number(String name, LongConsumer use) {
    if (has(name)) use.accept(number(name));
  }

  /** A number for a library that takes an int. */
  public void limit(String name, IntConsumer use) {
    if (has(name)) use.accept(Math.toIntExact(number(name)));
  }

  /** Whether it was given, and is true. */
  public boolean flag(String name) {
    return has(name) && given.get(name).getAsBoolean();
  }

  public Duration millis(String name) {
    return Duration.ofMillis(number(name));
  }

  public void millis(String name, Consumer<Duration> use) {
    if (has(name)) use.accept(millis(name));
  }

  /** The payload, which is empty if there is none. */
  public byte[] data() {
    return has("data") ? Base64.getDecoder().decode(text("data")) : new byte[0];
  }

  /** The headers: names with their values. */
  public Map<String, List<String>> headers() {
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (JsonElement pair : given.getAsJsonArray("headers"))
      headers.computeIfAbsent(texts(pair).get(0), name -> new ArrayList<>()).add(texts(pair).get(1));
    return headers;
  }

  /** A context of TLS that trusts the certificate in the file that the parameter names. */
  public SSLContext trusting(String name) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (InputStream in = new FileInputStream(text(name))) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static List<String> texts(JsonElement value) {
    return value.getAsJsonArray().asList().stream().map(JsonElement::getAsString).toList();
  }
}
