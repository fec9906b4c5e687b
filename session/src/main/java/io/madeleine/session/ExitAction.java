package io.madeleine.session;

/**
 * Ends the process when its session is {@linkplain io.madeleine.api.Session#abort aborted}. The default is {@code
 * System.exit}. Tests that run several ranks in one JVM {@linkplain Sessions#open(com.typesafe.config.Config,
 * ExitAction) open} their sessions with another action.
 *
 * <p>Threading: called once per session, by the thread that aborts the session or by a thread of the session.
 */
@FunctionalInterface
public interface ExitAction {
    /**
     * Ends the process. If this method returns, the session reports all its peers as failed, and the user has to close
     * the session.
     *
     * @param code the exit code
     * @param reason which rank aborted the session, and why
     */
    void exit(int code, String reason);
}
