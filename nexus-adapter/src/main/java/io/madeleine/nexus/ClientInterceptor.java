package io.madeleine.nexus;

import org.jspecify.annotations.Nullable;

/**
 * Wraps the calls that this process makes: it may add metadata, measure, or repeat calls. Install it for all calls of a
 * context by {@link ContextOptions#withClientInterceptor}, or for those of one proxy by {@link
 * Startpoint#service(Class, java.util.List)}.
 *
 * <p>Threading: the calling threads run it, several at once.
 */
@FunctionalInterface
public interface ClientInterceptor {
    /**
     * Wraps one call.
     *
     * @param next makes the call; each invocation makes it anew, within the deadline of the first
     * @return the result for the caller: commonly that of {@code next}, which is a future or a publisher if the
     *     method's result is one. Another type fails the call, with an {@link IllegalStateException} that names the
     *     interceptor
     * @throws Throwable the failure for the caller, which gets it through the future if the method returns one; a
     *     checked exception that the method does not declare comes as {@link
     *     java.lang.reflect.UndeclaredThrowableException} otherwise
     */
    @Nullable
    Object intercept(OutgoingCall call, Invocation next) throws Throwable;
}
