package io.madeleine.nexus;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an interface whose methods other processes can call. Each call runs in a thread of its own and may wait.
 *
 * <p>Parameters and results must have types with a codec, see {@link Codecs}. Both ends must have the same types, down
 * to the names of record components and enum constants; else calls of the methods concerned fail with a message that
 * says where the types differ. Parameters have no names on the wire: two of the same type that change places at one end
 * are not noticed. For ends of different versions use a {@link #serializer}.
 *
 * <p>A caller waits for a method that returns {@code void} or a value. It does not wait for the answer of a method that
 * returns a {@link java.util.concurrent.CompletableFuture}; like any other, it waits until the call has been sent, if
 * the other side takes nothing, until the deadline at most. When it cancels that future, or the call is cancelled for
 * another reason, the future that the implementation has returned is itself cancelled: let it return a {@link
 * java.util.concurrent.CompletableFuture#copy copy} of one that it shares. A method that returns a {@link
 * java.util.concurrent.Flow.Publisher} is a stream: each subscription makes a call, which sends no more items than the
 * subscriber has requested, within the method's {@link CallTimeout}. A thread of the stream calls the subscriber, and
 * {@code onSubscribe} may come after {@code subscribe} has returned. An item that the publisher emits as null, against
 * the rules of streams, arrives as null. A parameter may be a {@code Flow.Publisher}, too; if its subscriber throws,
 * the stream is cancelled, and the implementation has to see to it that its call ends.
 *
 * <p>A call throws, or its future or stream fails with:
 *
 * <ul>
 *   <li>the exception of the implementation, as the closest type that the method declares: {@code throws IOException}
 *       covers all its subtypes. The exception is made from the message, by a constructor that takes a string and that
 *       this module may call. Its cause is a {@link RemoteException} with the type that was thrown and its stack. If
 *       the method declares no such type, or no exception can be made, the call throws the {@link RemoteException}
 *       itself
 *   <li>{@link io.madeleine.api.DeadlineExceededException} if the deadline passes without an answer; the implementation
 *       is then interrupted
 *   <li>{@link io.madeleine.api.PeerFailedException} if the other process is gone, or the connection that the call took
 *       is lost
 *   <li>{@link UnavailableException} if the other context is being closed and has not executed the call
 *   <li>{@link OverloadedException} if a bound is reached, here or there; {@link NexusException} if the service does
 *       not exist there, or if either end cannot write or read a value
 *   <li>{@link io.madeleine.api.WaitInterruptedException} if the thread is interrupted; {@link IllegalStateException}
 *       if a non-threaded handler makes a call that has to wait
 * </ul>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface RemoteService {
    /** The name under which the service is found; the interface's full name if empty. */
    String name() default "";

    /**
     * The name of the {@link ServiceSerializer} that writes and reads all values, as {@code "fory"} of
     * madeleine-nexus-fory; if empty, {@link Codecs} write and read them. Both ends must name the same.
     */
    String serializer() default "";

    /**
     * How many calls may run at once; 0 for as many as the context allows. A call beyond the bound is refused. A call
     * runs until the future or stream that its method has returned has ended.
     */
    int maxConcurrent() default 0;
}
