package io.madeleine.api;

import java.util.concurrent.CompletableFuture;

/**
 * A process that a session has {@linkplain Session#launch launched}.
 *
 * <p>Threading: thread-safe.
 *
 * @param rank its number among those launched together, which is its rank in their own session
 * @param pid its number on its host
 * @param exit its exit code once it has ended, 128 + N if signal N ended it; fails with {@link SessionException} if that will
 *     not be known, since the launcher is gone or the session that has launched it was closed
 */
public record LaunchedProcess(int rank, long pid, CompletableFuture<Integer> exit) {}
