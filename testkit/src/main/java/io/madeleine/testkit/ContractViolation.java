package io.madeleine.testkit;

/**
 * A rule of the SPI or of the API was broken. It is an {@link Error}, so that no caller takes it for a failed message.
 */
public final class ContractViolation extends AssertionError {
    private static final long serialVersionUID = 1L;

    /** Creates the violation; the message describes it. */
    public ContractViolation(String message) {
        super(message);
    }
}
