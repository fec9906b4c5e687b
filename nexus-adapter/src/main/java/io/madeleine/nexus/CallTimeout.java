package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How long a call of this method may take, or of every method of the interface, in place of {@link
 * ContextOptions#callTimeout}. A call with a stream, as result or parameter, has this much time until the stream ends.
 * Without this annotation it has no deadline and can wait for ever, for a peer that hangs, for instance. A call that is
 * made while another one is executed has at most the time that is left for that one.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface CallTimeout {
    /** The time in milliseconds, at least 1. */
    long millis();
}
