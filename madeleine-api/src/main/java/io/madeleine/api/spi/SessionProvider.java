package io.madeleine.api.spi;

import io.madeleine.api.Session;
import io.madeleine.api.SessionPort;
import io.madeleine.api.SessionRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * An implementation of sessions, found by {@link java.util.ServiceLoader}.
 *
 * <p>Threading: thread-safe; a provider keeps no state between calls.
 */
public interface SessionProvider {
    /** Opens a session from command-line style settings; see {@link Session#open(String...)}. */
    Session open(List<String> arguments);

    /** Opens a session from a configuration file; see {@link Session#open(Path)}. */
    Session open(Path file);

    /** Opens a session from settings by key; see {@link Session#open(Map)}. */
    Session open(Map<String, ?> settings);

    /** Opens a session that its processes agree on at run time; see {@link Session#open(SessionRequest)}. */
    Session open(SessionRequest request);

    /** Opens a port where processes find this one to open such sessions; see {@link SessionPort#open(String)}. */
    SessionPort openPort(String address);
}
