package io.madeleine.nexus;

import org.jspecify.annotations.Nullable;

/**
 * Wraps the calls that this process executes, before their arguments are read: it may reject them, measure, or set up
 * what the implementation expects. Install it by {@link ContextOptions#withServerInterceptor}.
 *
 * <p>Threading: the threads that execute calls run it, several at once.
 */
@FunctionalInterface
public interface ServerInterceptor {
    /**
     * Wraps one call.
     *
     * @param call the call, with its metadata; {@link RemoteCall#current} returns it, too
     * @param next executes the call; may be used once
     * @return the answer: commonly the result of {@code next}. If the method's result is a future or a publisher, this
     *     must be one, too; else the call fails with an error that names this interceptor
     * @throws Throwable the failure for the caller; a {@link CallException} has a code
     */
    @Nullable
    Object intercept(RemoteCall call, Invocation next) throws Throwable;
}
