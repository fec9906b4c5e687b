package io.madeleine.session.bootstrap;

import io.madeleine.api.LaunchedProcess;
import java.util.List;

/**
 * The processes that were started for one launch request.
 *
 * <p>Threading: thread-safe.
 */
public interface LaunchedGroup {
    /** The processes, by rank. */
    List<LaunchedProcess> launched();

    /** Ends all processes, in a thread of its own: asks them, and kills those that do not end in time. */
    void stopBeside();
}
