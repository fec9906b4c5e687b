package io.madeleine.session;

import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * What a process is given from outside: environment variables and system properties. A value, so that tests need not
 * change those of the JVM.
 *
 * <p>Threading: immutable, as long as nobody changes the properties.
 *
 * @param environment the environment variables
 * @param properties the system properties
 */
record Surroundings(Map<String, String> environment, Properties properties) {
    /** The launcher's control address, host:port. */
    static final String LAUNCHER = "MADELEINE_LAUNCHER";

    /** This process's rank. */
    static final String RANK = "MADELEINE_RANK";

    /** The number of processes. */
    static final String SIZE = "MADELEINE_SIZE";

    /** What proves that the process belongs to the launcher. */
    static final String SECRET = "MADELEINE_SECRET";

    /** The configuration file. */
    static final String CONF = "MADELEINE_CONF";

    /** Settings of the launcher, one key=value per line. */
    static final String SETTINGS = "MADELEINE_SETTINGS";

    /** Those of this JVM. */
    static Surroundings ofThisProcess() {
        return new Surroundings(System.getenv(), System.getProperties());
    }

    /** An environment variable; empty if it is missing or blank. */
    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
