package io.madeleine.nexus;

import org.jspecify.annotations.Nullable;

/** What an interceptor goes around: the next interceptor, or the call itself. */
@FunctionalInterface
public interface Invocation {
    /**
     * Goes on.
     *
     * @return what the method returns: its value, its future or its publisher; null for none
     * @throws Throwable what it throws
     */
    @Nullable
    Object proceed() throws Throwable;
}
