package jetproof.kit;

/** There is nothing that the library could be called on. */
public final class NotOpen extends RuntimeException {
  public NotOpen(String what) {
    super(what + " is not open");
  }
}
