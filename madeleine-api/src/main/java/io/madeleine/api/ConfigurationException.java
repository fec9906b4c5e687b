package io.madeleine.api;

/** A key or value of the configuration is wrong; the message names key, place and what is accepted. */
public final class ConfigurationException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public ConfigurationException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public ConfigurationException(String message, Throwable cause) {
        super(message, cause);
    }
}
