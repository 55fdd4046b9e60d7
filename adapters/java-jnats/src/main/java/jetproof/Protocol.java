package jetproof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static jetproof.Values.*;

import com.google.gson.*;
import io.nats.client.Nats;
import io.nats.client.support.Status;
import java.io.*;
import java.lang.reflect.Field;
import java.util.*;
import java.util.concurrent.*;

/** The lines between Jetproof and an adapter: calls and answers, events, and things with names. */
abstract class Protocol {
  interface Call {
    Object of(JsonObject p) throws Exception;
  }

  interface Deed {
    void of(JsonObject p) throws Exception;
  }

  private record Operation(List<String> parameters, Call call) {}

  protected final Map<String, Object> things = new ConcurrentHashMap<>();
  protected final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, Operation> operations = new LinkedHashMap<>();
  private final PrintStream out = System.out;

  protected Protocol() {
    gives("hello protocol", p -> hello());
  }

  /** An operation that gives something, by its name and its parameters. */
  protected final void gives(String signature, Call call) {
    List<String> words = List.of(signature.split(" "));
    operations.put(words.get(0), new Operation(words.subList(1, words.size()), call));
  }

  /** An operation that gives nothing. */
  protected final void does(String signature, Deed deed) {
    Call call =
        p -> {
          deed.of(p);
          return Map.of();
        };
    gives(signature, call);
  }

  private Object hello() {
    // Revision 3 brought the status 423, and 2.24 what the library does about it.
    var statuses = Arrays.stream(Status.class.getFields()).map(Field::getName);
    int consumers = statuses.anyMatch("PIN_ERROR_CODE"::equals) ? 3 : 2;
    return with("protocol", 1)
        .with("library", "jnats")
        .with("version", Nats.CLIENT_VERSION)
        .with("language", "java")
        .with("runtime", "java " + Runtime.version())
        .with("parts", Map.of("jnats", Nats.CLIENT_VERSION))
        .with("capabilities", operations.keySet().stream().skip(1).toList())
        .with("claims", Map.of("adr-31", 1, "adr-37", consumers));
  }

  protected abstract void close() throws Exception;

  protected final void serve() throws Exception {
    System.setOut(System.err); // standard output is for the protocol alone
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JsonObject call = JsonParser.parseString(line).getAsJsonObject();
      threads.execute(() -> answer(call));
    }
    close();
    System.exit(0);
  }

  private void answer(JsonObject call) {
    JsonElement id = call.remove("id");
    String name = call.remove("op").getAsString();
    try {
      Operation operation = operations.get(name);
      if (operation == null) throw new Unsupported(name);
      for (String given : call.keySet())
        if (!operation.parameters.contains(given)) throw new Unsupported(given + " of " + name);
      say(with("id", id).with("ok", operation.call.of(call)));
    } catch (Unsupported e) {
      say(with("id", id).with("unsupported", "jnats has no API for " + e.getMessage()));
    } catch (Throwable e) {
      say(with("id", id).with("error", error(e)));
    }
  }

  protected final synchronized void say(Fields line) {
    out.writeBytes((GSON.toJson(line) + "\n").getBytes(UTF_8));
    out.flush();
  }

  protected final void keep(JsonObject p, Object thing) {
    things.put(text(p, "as"), thing);
  }

  protected final <T> T of(JsonObject p, Class<T> type) {
    return thing(text(p, "of"), type);
  }

  protected final <T> T thing(String name, Class<T> type) {
    if (type.isInstance(things.get(name))) return type.cast(things.get(name));
    throw new NotOpen(name);
  }
}
