package io.madeleine.api;

import java.util.concurrent.CompletableFuture;

/**
 * A process that a session has {@linkplain Session#launch launched}.
 *
 * <p>Threading: thread-safe.
 *
 * @param rank its number among the processes launched together, which is its rank in their own session
 * @param pid its process id on its host
 * @param exit completes with the exit code when the process ends (128 + N if signal N ended it); fails with
 *     {@link SessionException} if the exit code cannot become known, because the launcher is gone or the launching
 *     session is closed
 */
public record LaunchedProcess(int rank, long pid, CompletableFuture<Integer> exit) {}
