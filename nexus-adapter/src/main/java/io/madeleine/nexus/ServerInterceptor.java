package io.madeleine.nexus;

import org.jspecify.annotations.Nullable;

/**
 * Goes around the calls that this process carries out, before their arguments are looked at: lets them in or not, measures,
 * sets up what the implementation expects. By {@link ContextOptions#withServerInterceptor}.
 *
 * <p>Threading: called by the threads that carry calls out, several at once.
 */
@FunctionalInterface
public interface ServerInterceptor {
    /**
     * A call is to be carried out.
     *
     * @param call which, with its metadata; it is {@link RemoteCall#current}, too
     * @param next carries it out, once
     * @return what the call is answered with: commonly what {@code next} returns. Where the method's result is a future or a
     *     publisher, it has to be one, too; else the call fails and names this interceptor
     * @throws Throwable what the caller gets; a {@link CallException} has a code
     */
    @Nullable
    Object intercept(RemoteCall call, Invocation next) throws Throwable;
}
