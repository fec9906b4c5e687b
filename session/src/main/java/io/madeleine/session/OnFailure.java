package io.madeleine.session;

/** What a launcher does when one of its processes fails. */
public enum OnFailure {
    /** Stops the others. The default. */
    STOP,
    /** Lets the others continue. */
    CONTINUE
}
