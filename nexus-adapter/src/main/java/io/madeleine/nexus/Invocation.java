package io.madeleine.nexus;

import org.jspecify.annotations.Nullable;

/** The next step of an intercepted call: the next interceptor, or the call itself. */
@FunctionalInterface
public interface Invocation {
    /**
     * Proceeds with the call.
     *
     * @return the method's result: its value, future or publisher; null for none
     * @throws Throwable what the method or an inner interceptor throws
     */
    @Nullable
    Object proceed() throws Throwable;
}
