package io.madeleine.tm.sci.memory;

/**
 * The names by which the configuration and other processes know shared memory.
 *
 * <p>Threading: stateless.
 */
public final class SciKeys {
    /** The path of the settings in the configuration. */
    public static final String ROOT = "madeleine.tm.sci";

    /** The name of the network. */
    public static final String NAME = "sci";

    private SciKeys() {}
}
