package io.madeleine.nexus;

/**
 * What a method of a remote service has thrown. Code and details are those that a {@link CallException} had there, else the code
 * is that of its type, see {@link ErrorCode#of}; that goes for its causes, too. Its stack trace is that of the remote thread, then that of a caller who waited; its
 * cause, if there is one, is the remote cause.
 */
public final class RemoteException extends CallException {
    private static final long serialVersionUID = 1L;

    private final int rank;
    private final String remoteType;

    RemoteException(int rank, ErrorCode code, String remoteType, String message) {
        super(code, message);
        this.rank = rank;
        this.remoteType = remoteType;
    }

    /** The rank of the process that threw it. */
    public int rank() {
        return rank;
    }

    /** The full name of the class that was thrown. */
    public String remoteType() {
        return remoteType;
    }

    /** Who has thrown what. */
    @Override
    @SuppressWarnings("OverrideThrowableToString") // the message is that of the other side, as it was
    public String toString() {
        return getClass().getName() + ": rank " + rank + " has thrown " + remoteType + ": " + getMessage();
    }
}
