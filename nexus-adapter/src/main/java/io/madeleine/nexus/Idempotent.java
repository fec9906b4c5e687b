package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls of this method may be carried out more than once, and its callers would rather wait than be refused:
 *
 * <ul>
 *   <li>A call that a bound has refused, here or there ({@link OverloadedException}), has not been carried out. It is made again
 *       until its deadline, however often that is: each waits for itself, 1 ms at first and twice as long each time up to half a
 *       second, give or take half of it. If the other side stays overloaded, the call ends with an {@link OverloadedException}
 *       shortly before its deadline, which says how often it was refused and why.
 *   <li>A call whose way or process was lost may have been carried out. It is made again while there is another way, or another
 *       process that the startpoint leads to, in {@link #attempts} in all.
 * </ul>
 *
 * <p>Calls of other methods are never made again, not even those that were refused: who is refused learns it at once, and may do
 * without, ask elsewhere or later. Streams that methods return are not begun again either.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Idempotent {
    /** How often it is tried in all, refusals aside. */
    int attempts() default 4;
}
