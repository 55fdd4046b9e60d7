package jetproof.kit;

/** The library has no API for something: an operation, a parameter, or a value of one. */
public final class Unsupported extends RuntimeException {
  public Unsupported(String what) {
    super(what);
  }
}
