package io.madeleine.switching;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SessionException;

/**
 * Makes the exceptions of messages. One thread detects a failure and another throws it: each throw gets a stack trace
 * of its own, with the original exception as its cause.
 */
final class MessageFailures {
    private MessageFailures() {}

    static MadeleineException seenFromHere(MadeleineException failure) {
        String message = failure.getMessage();
        String text = message == null ? failure.toString() : message;
        MadeleineException here = sameKind(failure, text);
        here.initCause(failure);
        return here;
    }

    /** No pattern switch: its first execution allocates memory, and if that fails, it fails forever. */
    private static MadeleineException sameKind(MadeleineException failure, String text) {
        if (failure instanceof PeerFailedException peer) {
            return new PeerFailedException(peer.rank(), peer.kind(), text);
        }
        if (failure instanceof AsymmetricMessageException) {
            return new AsymmetricMessageException(text);
        }
        return failure instanceof MessageAbortedException
                ? new MessageAbortedException(text)
                : new SessionException(text);
    }

    /** The unpack calls do not mirror the blocks of the message. */
    static AsymmetricMessageException notMirrored(ConnectionContext connection, String why) {
        boolean names = connection.isSelfDescribed();
        return new AsymmetricMessageException("the message " + connection.toHere() + " is not mirrored: " + why
                + (names ? "" : " (set madeleine.debug.self-described = true in all processes to see the block)"));
    }

    /** The memory of a block of an incoming message was freed. */
    static MessageAbortedException memoryGone(ConnectionContext connection, RuntimeException seen) {
        return new MessageAbortedException(
                "the message " + connection.toHere()
                        + " was aborted: the memory of a block became inaccessible before its data arrived ("
                        + seen.getMessage()
                        + "); keep its arena open until the end of unpacking",
                seen);
    }

    /** The sender aborted the message. */
    static MessageAbortedException aborted(ConnectionContext connection) {
        return new MessageAbortedException("the message " + connection.toHere() + " was aborted by its sender");
    }
}
