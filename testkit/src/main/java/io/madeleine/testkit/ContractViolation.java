package io.madeleine.testkit;

/** A rule of the SPI or of the API was broken. An error, so that nothing on the way takes it for a failed message. */
public final class ContractViolation extends AssertionError {
    private static final long serialVersionUID = 1L;

    /** A violation, in words. */
    public ContractViolation(String message) {
        super(message);
    }
}
