package io.madeleine.api;

/** A key or a value of the configuration is wrong. The message names the key, the place and the accepted values. */
public final class ConfigurationException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    public ConfigurationException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    public ConfigurationException(String message, Throwable cause) {
        super(message, cause);
    }
}
