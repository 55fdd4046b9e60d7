package jetproof.kit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static jetproof.kit.Fields.fields;

import com.google.gson.*;
import java.io.*;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.BiConsumer;

/**
 * The lines between Jetproof and an adapter: calls and answers, events, the connection, and things with names. It knows
 * no library.
 */
public abstract class Adapter<C extends AutoCloseable> {
  /** A call of the library that gives something. */
  public interface Gives<R> {
    R of(Call call) throws Exception;
  }

  /** A call on something that gives something. */
  public interface GivesOn<T, R> {
    R of(T thing, Call call) throws Exception;
  }

  /** A call of the library that gives nothing. */
  public interface Does {
    void of(Call call) throws Exception;
  }

  /** A call on something that gives nothing. */
  public interface DoesOn<T> {
    void of(T thing, Call call) throws Exception;
  }

  private record Operation(List<String> parameters, Gives<Fields> call) {}

  /** A Long is 64 bits, and told as text; an Integer is told as a number. */
  private static final Gson GSON =
      new GsonBuilder()
          .serializeNulls()
          .disableHtmlEscaping()
          .setLongSerializationPolicy(LongSerializationPolicy.STRING)
          .create();

  /** Runs the calls, and whatever an adapter has to wait for. */
  protected final ExecutorService threads = Executors.newCachedThreadPool();

  private final Map<String, Operation> operations = new LinkedHashMap<>();
  private final Map<String, Object> things = new ConcurrentHashMap<>();
  private final AtomicReference<C> connection = new AtomicReference<>();
  private final AtomicLong messages = new AtomicLong();
  private final PrintStream out = System.out;

  /** With the parameters that connect can pass on. */
  protected Adapter(String parameters) {
    gives("hello protocol", call -> hello());
    does("connect " + parameters, this::open);
    does("close", call -> close());
  }

  /** What `hello` tells of the library: library, version, parts and claims. */
  protected abstract Fields about();

  /** Makes a connection, which the end of the program or `close` ends. */
  protected abstract C connect(Call call) throws Exception;

  /** What an error of the library offers as fields: code, err_code, status, description. */
  protected Fields details(Throwable error) {
    return fields();
  }

  /** An operation that gives something, by its name and the parameters that it can pass on. */
  protected final void gives(String signature, Gives<Fields> call) {
    List<String> words = List.of(signature.split(" "));
    operations.put(words.get(0), new Operation(words.subList(1, words.size()), call));
  }

  /** An operation on what was opened. */
  protected final <T> void gives(String signature, Class<T> type, GivesOn<T, Fields> call) {
    gives(signature + " of", p -> call.of(thing(p.text("of"), type), p));
  }

  /** An operation that gives nothing. */
  protected final void does(String signature, Does call) {
    Gives<Fields> nothing =
        p -> {
          call.of(p);
          return fields();
        };
    gives(signature, nothing);
  }

  /** An operation on what was opened that gives nothing. */
  protected final <T> void does(String signature, Class<T> type, DoesOn<T> call) {
    does(signature + " of", p -> call.of(thing(p.text("of"), type), p));
  }

  /** An operation that opens something. */
  protected final void opens(String signature, Gives<?> call) {
    does(signature + " as", p -> things.put(p.text("as"), call.of(p)));
  }

  /** An operation on what was opened that opens something else. */
  protected final <T> void opens(String signature, Class<T> type, GivesOn<T, ?> call) {
    opens(signature + " of", p -> call.of(thing(p.text("of"), type), p));
  }

  protected final C connection() {
    C open = connection.get();
    if (open == null) throw new NotOpen("the connection");
    return open;
  }

  /** Keeps a message that can be acknowledged, and gives it a name. */
  protected final String keep(Object message) {
    String name = "m" + messages.incrementAndGet();
    things.put(name, message);
    return name;
  }

  /** What was opened under a name, or a message that was kept. */
  protected final <T> T thing(String name, Class<T> type) {
    return find(name, type).orElseThrow(() -> new NotOpen(name));
  }

  protected final <T> Optional<T> find(String name, Class<T> type) {
    return Optional.ofNullable(things.get(name)).filter(type::isInstance).map(type::cast);
  }

  /** A listener of the library whose methods, none of which gives a primitive, are all told by name. */
  protected final <T> T listener(Class<T> type, BiConsumer<String, Object[]> told) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (method.getDeclaringClass() == Object.class) return method.invoke(told, arguments);
          told.accept(method.getName(), arguments);
          return null;
        };
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** An error as the protocol tells it. */
  protected final Fields error(Throwable error) {
    return fields("type", error.getClass().getSimpleName(), "text", error.getMessage() + "").and(details(error));
  }

  /** An answer or an event. */
  protected final synchronized void say(Fields line) {
    out.writeBytes((GSON.toJson(line) + "\n").getBytes(UTF_8));
    out.flush();
  }

  /** Answers calls until there are no more, and ends the program. */
  public final void serve() throws Exception {
    System.setOut(System.err); // standard output is for the protocol alone
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JsonObject call = JsonParser.parseString(line).getAsJsonObject();
      threads.execute(() -> answer(call));
    }
    close();
    System.exit(0);
  }

  private void open(Call call) throws Exception {
    if (connection.get() != null) throw new IllegalStateException("the adapter is connected already");
    connection.set(connect(call));
  }

  private void close() throws Exception {
    things.clear();
    C open = connection.getAndSet(null);
    if (open != null) open.close();
  }

  private Fields hello() {
    return fields("protocol", 1, "language", "java", "runtime", "java " + Runtime.version())
        .and(about())
        .and("capabilities", operations.keySet().stream().filter(name -> !name.equals("hello")).toList());
  }

  private void answer(JsonObject line) {
    JsonElement id = line.remove("id");
    String name = line.remove("op").getAsString();
    Fields answer = fields("id", id);
    try {
      Operation known = operations.get(name);
      if (known == null) throw new Unsupported(name);
      for (String given : line.keySet())
        if (!known.parameters.contains(given)) throw new Unsupported(given + " of " + name);
      answer.and("ok", known.call.of(new Call(line)));
    } catch (Unsupported e) {
      answer.and("unsupported", "no API for " + e.getMessage());
    } catch (Throwable e) {
      answer.and("error", error(e));
    }
    say(answer);
  }
}
