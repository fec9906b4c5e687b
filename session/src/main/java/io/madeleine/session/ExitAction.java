package io.madeleine.session;

/**
 * How a process ends when its session is {@linkplain io.madeleine.api.Session#abort aborted}: by {@code System.exit}, unless a
 * session is {@linkplain Sessions#open(com.typesafe.config.Config, ExitAction) opened} with another way, as tests do whose
 * ranks share one JVM.
 *
 * <p>Threading: called once per session, by the thread that aborts it or one of the session's.
 */
@FunctionalInterface
public interface ExitAction {
    /**
     * Ends the process. If this returns, all peers of the session have failed, and its user has to close it.
     *
     * @param code the exit code
     * @param reason who has aborted the session, and why
     */
    void exit(int code, String reason);
}
