package io.madeleine.nexus;

import org.jspecify.annotations.Nullable;

/**
 * Goes around the calls that this process makes: adds metadata, measures, makes them again. For all calls of a context by {@link
 * ContextOptions#withClientInterceptor}, for those of one proxy by {@link Startpoint#service(Class, java.util.List)}.
 *
 * <p>Threading: called by the threads that call, several at once.
 */
@FunctionalInterface
public interface ClientInterceptor {
    /**
     * A call is made.
     *
     * @param next makes it, each time anew, within the deadline of the first time
     * @return what the caller gets: commonly what {@code next} returns, which is a future or a publisher where the method's result
     *     is one
     * @throws Throwable what the caller gets; through the future, if the method returns one
     */
    @Nullable
    Object intercept(OutgoingCall call, Invocation next) throws Throwable;
}
