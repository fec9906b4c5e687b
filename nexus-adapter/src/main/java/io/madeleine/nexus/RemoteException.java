package io.madeleine.nexus;

/**
 * An exception that a method of a remote service has thrown. If the method has thrown a {@link CallException}, this has
 * the same code and details; else its code is that of the type thrown, see {@link ErrorCode#of}. The same holds for its
 * causes. Its stack trace is that of the remote thread, followed by that of the calling thread if one waited. Its cause
 * is the remote cause, if there is one.
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

    /** The node that threw it: a rank, or the number of a context of another session. */
    public int rank() {
        return rank;
    }

    /** The full name of the class that was thrown. */
    public String remoteType() {
        return remoteType;
    }

    /** The node and the remote type, with the message. */
    @Override
    @SuppressWarnings("OverrideThrowableToString") // the message is the remote one, unchanged
    public String toString() {
        return getClass().getName() + ": rank " + rank + " has thrown " + remoteType + ": " + getMessage();
    }
}
