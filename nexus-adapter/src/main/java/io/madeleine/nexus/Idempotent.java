package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method whose calls may be executed more than once, and whose callers prefer waiting to a refusal:
 *
 * <ul>
 *   <li>A call that was refused because of a bound, here or there ({@link OverloadedException}), has not been executed.
 *       It is repeated until its deadline, with exponential back-off per call: 1 ms at first, doubled each time up to
 *       half a second, with a random deviation of up to a half. If the other side stays overloaded, the call ends
 *       shortly before its deadline with an {@link OverloadedException} that says how often it was refused and why.
 *   <li>A call whose connection or process was lost may have been executed. It is repeated while there is another
 *       communication method, or another process that the startpoint leads to, up to {@link #attempts} attempts in all.
 * </ul>
 *
 * <p>Calls of other methods are never repeated, not even refused ones: their callers learn of the refusal at once, and
 * may do without, or ask elsewhere or later. Streams that methods return are not repeated either.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Idempotent {
    /** The number of attempts in all, not counting refusals. */
    int attempts() default 4;
}
