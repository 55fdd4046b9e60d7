package jetproof.kit;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.*;

/** An object of the protocol: names and their values, in the form of the protocol; what is null is left out. */
public final class Fields extends LinkedHashMap<String, Object> {
  /** Names and values by turns, as in Map.of. */
  public static Fields fields(Object... namesAndValues) {
    return new Fields().and(namesAndValues);
  }

  /** One field that is null where there is nothing. */
  public static Fields nullable(String name, Object value) {
    Fields fields = fields(name, value);
    fields.putIfAbsent(name, null);
    return fields;
  }

  /** Further names and values by turns. */
  public Fields and(Object... namesAndValues) {
    for (int i = 0; i < namesAndValues.length; i += 2) {
      Object value = namesAndValues[i + 1];
      if (value != null) put((String) namesAndValues[i], form(value));
    }
    return this;
  }

  public Fields and(Fields more) {
    putAll(more);
    return this;
  }

  /** Headers, from names with their lists of values. */
  public static List<List<String>> pairs(Iterable<Map.Entry<String, List<String>>> headers) {
    List<List<String>> pairs = new ArrayList<>();
    for (var header : headers) header.getValue().forEach(value -> pairs.add(List.of(header.getKey(), value)));
    return pairs;
  }

  private static Object form(Object value) {
    if (value instanceof byte[] data) return Base64.getEncoder().encodeToString(data);
    if (value instanceof ZonedDateTime time) return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time);
    return value;
  }
}
