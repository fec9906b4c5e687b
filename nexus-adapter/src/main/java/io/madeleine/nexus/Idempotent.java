package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls of this method may be carried out more than once: one that was rejected, or whose way or process was lost while
 * there is another way, or another process that the startpoint leads to, is made again, within its deadline.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Idempotent {
    /** How often it is tried in all. */
    int attempts() default 4;
}
