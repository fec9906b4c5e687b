package io.madeleine.tm.sci;

/**
 * The names by which the configuration and other processes know shared memory.
 *
 * <p>Threading: stateless.
 */
final class SciKeys {
    /** The path of the settings in the configuration. */
    static final String ROOT = "madeleine.tm.sci";

    /** The name of the network. */
    static final String NAME = "sci";

    private SciKeys() {}
}
