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
        MadeleineException here = switch (failure) {
            case PeerFailedException peer -> new PeerFailedException(peer.rank(), text);
            case AsymmetricMessageException _ -> new AsymmetricMessageException(text);
            case MessageAbortedException _ -> new MessageAbortedException(text);
            default -> new SessionException(text);
        };
        here.initCause(failure);
        return here;
    }
}
