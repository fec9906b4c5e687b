package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How long a call of this method may take, or of every method of the interface; instead of {@link
 * ContextOptions#callTimeout}. For a call with a stream, as result or parameter, it is the time to its end, and there is none
 * unless this says one; for a call that is made while another one is carried out, no more than what is left of that.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface CallTimeout {
    /** In milliseconds, at least 1. */
    long millis();
}
