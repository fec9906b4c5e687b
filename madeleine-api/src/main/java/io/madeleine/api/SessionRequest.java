package io.madeleine.api;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A session to open at run time, beside other open ones. Its processes agree on a name, on their number and ranks, and
 * on the address where rank 0 listens. The request replaces the section {@code madeleine.session} of the configuration;
 * networks, timeouts and all other settings still come from there.
 *
 * <p>Threading: immutable.
 *
 * @param name the session's name, the same in all its processes
 * @param size how many processes it has
 * @param rank this process's number, 0 to size - 1
 * @param address where rank 0 listens, {@code host:port}
 * @param secret proves that a process may join; not empty
 * @param channels the names of the session's channels, the same in all processes; a channel that
 *     {@code madeleine.channels} does not configure uses the best network; if empty, the session has all channels of
 *     the configuration
 * @param settings settings by key, which take precedence over the configuration; they must not repeat what the request
 *     says
 */
public record SessionRequest(
        String name, int size, int rank, String address, String secret, Set<String> channels, Map<String, ?> settings) {
    /** Copies the collections and validates the arguments. */
    public SessionRequest {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(secret, "secret");
        Objects.requireNonNull(channels, "channels");
        Objects.requireNonNull(settings, "settings");
        if (name.isBlank() || secret.isEmpty()) {
            throw new ConfigurationException("a session request has no " + (name.isBlank() ? "name" : "secret")
                    + "; expected a name and a secret that are not empty");
        }
        if (size < 1 || rank < 0 || rank >= size) {
            throw new ConfigurationException("the request for session " + name + " has rank " + rank + " of " + size
                    + " processes; expected at least one process and a rank from 0 to size - 1");
        }
        channels = Set.copyOf(channels);
        settings = Map.copyOf(settings);
    }

    /** A request that uses the channels and settings of the configuration. */
    public static SessionRequest of(String name, int size, int rank, String address, String secret) {
        return new SessionRequest(name, size, rank, address, secret, Set.of(), Map.of());
    }

    /** Returns a copy with these channels. */
    public SessionRequest withChannels(Set<String> names) {
        Objects.requireNonNull(names, "names");
        return new SessionRequest(name, size, rank, address, secret, names, settings);
    }

    /** Returns a copy with these settings, for instance {@code Map.of("channels.default.network", "sci")}. */
    public SessionRequest withSettings(Map<String, ?> values) {
        Objects.requireNonNull(values, "values");
        return new SessionRequest(name, size, rank, address, secret, channels, values);
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "session " + name + ", rank " + rank + " of " + size + ", at " + address;
    }
}
