package jetproof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static jetproof.Values.*;

import com.google.gson.*;
import java.io.*;
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

  protected final List<String> capabilities() {
    return operations.keySet().stream().filter(name -> !name.equals("hello")).toList();
  }

  protected final void serve() throws IOException {
    System.setOut(System.err); // standard output is for the protocol alone
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JsonObject call = JsonParser.parseString(line).getAsJsonObject();
      threads.execute(() -> answer(call));
    }
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

  protected final <T> T of(JsonObject p, Class<T> type) {
    return thing(text(p, "of"), type);
  }

  protected final <T> T thing(String name, Class<T> type) {
    if (type.isInstance(things.get(name))) return type.cast(things.get(name));
    throw new NotOpen(name);
  }
}
