package io.madeleine.switching;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SessionException;

/** A failure is found by one thread and thrown by another: each throw has a trace of its own. */
final class Failures {
    private Failures() {}

    static MadeleineException seenFromHere(MadeleineException failure) {
        String message = failure.getMessage();
        String text = message == null ? failure.toString() : message;
        MadeleineException here = sameKind(failure, text);
        here.initCause(failure);
        return here;
    }

    /** No switch: the first time one takes memory, and without that fails ever after. */
    private static MadeleineException sameKind(MadeleineException failure, String text) {
        if (failure instanceof PeerFailedException peer) {
            return new PeerFailedException(peer.rank(), text);
        }
        if (failure instanceof AsymmetricMessageException) {
            return new AsymmetricMessageException(text);
        }
        return failure instanceof MessageAbortedException
                ? new MessageAbortedException(text)
                : new SessionException(text);
    }

    /** An incoming message does not have the blocks that are unpacked. */
    static AsymmetricMessageException notMirrored(SwitchedConnection connection, String why) {
        boolean names = connection.channel().settings().selfDescribed();
        return new AsymmetricMessageException("the message " + connection.toHere() + " is not mirrored: " + why
                + (names ? "" : " (madeleine.debug.self-described = true in all processes names the block)"));
    }

    /** The memory of a block of an incoming message has been freed. */
    static MessageAbortedException memoryGone(SwitchedConnection connection, RuntimeException seen) {
        return new MessageAbortedException(
                "the message " + connection.toHere()
                        + " was given up: the memory of a block became inaccessible while it was awaited ("
                        + seen.getMessage()
                        + "); keep its arena open until the end of unpacking",
                seen);
    }

    /** The sender gave an incoming message up. */
    static MessageAbortedException aborted(SwitchedConnection connection) {
        return new MessageAbortedException("the message " + connection.toHere() + " was aborted by its sender");
    }
}
