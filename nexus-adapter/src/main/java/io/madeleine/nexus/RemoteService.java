package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An interface whose methods can be called from other processes. Each runs in a thread of its own, and may wait.
 *
 * <p>Parameters and results are of types that have a codec, see {@link Codecs}; both ends have the same, down to the names of
 * record components and enum constants, or calls of the methods concerned fail and say where they differ. For ends of
 * different versions there is {@link #serializer}. A method that returns {@code void} or a
 * value is waited for; one that returns a {@link java.util.concurrent.CompletableFuture} is not; one that returns a
 * {@link java.util.concurrent.Flow.Publisher} is a stream, which begins with each subscription and sends no more than
 * the subscriber has asked for, within the method's {@link CallTimeout}. A {@code Flow.Publisher} may be a parameter, too.
 *
 * <p>What a call throws, or its future or stream fails with:
 *
 * <ul>
 *   <li>what the implementation has thrown, as the closest type that the method declares: {@code throws IOException} stands for
 *       all of its kind. Made of its message, by a constructor that takes one and that this module may call; its cause is a
 *       {@link RemoteException}, which has the type that was thrown, and the stack. If the method declares none, or none can be
 *       made, it is the {@link RemoteException} itself
 *   <li>{@link io.madeleine.api.DeadlineExceededException} if there is no answer in time; the implementation is interrupted then
 *   <li>{@link io.madeleine.api.PeerFailedException} if the other process is gone, or the way that the call took is lost
 *   <li>{@link UnavailableException} if the other context is being closed and has not carried it out
 *   <li>{@link OverloadedException} if a bound is reached, here or there, and {@link NexusException} if the service is not there
 *       or a value cannot be written or read, at either end
 *   <li>{@link io.madeleine.api.WaitInterruptedException} if the thread is interrupted, and {@link IllegalStateException} if a
 *       non-threaded handler calls and would have to wait
 * </ul>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface RemoteService {
    /** The name under which it is found; the interface's full name if empty. */
    String name() default "";

    /**
     * The name of the {@link ServiceSerializer} that writes and reads all values, as {@code "fory"} of madeleine-nexus-fory;
     * if empty, {@link Codecs} do. Both ends name the same.
     */
    String serializer() default "";

    /**
     * How many calls are carried out at once, 0 for as many as the context allows; one more is rejected. A call is carried out until
     * the future or stream that its method has returned is over.
     */
    int maxConcurrent() default 0;
}
