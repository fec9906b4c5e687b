package io.madeleine.tm.bip.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The initiator's way to a connection: asks for a cookie, returns it, and waits for the acceptor's id. Each request is
 * repeated until it is answered.
 *
 * <p>Threading: confined.
 */
final class Greeting {
    /** The time to the first repetition; it doubles each time. */
    static final long FIRST_NS = 20_000_000;

    /** The longest time between two repetitions. */
    static final long LONGEST_NS = 500_000_000;

    private byte @Nullable [] cookie;
    private long dueNs;
    private long waitNs = FIRST_NS;

    Greeting(long nowNs) {
        dueNs = nowNs;
    }

    long deadlineNs() {
        return dueNs;
    }

    /** A cookie has come. */
    void onCookie(Datagram datagram, long nowNs) {
        if (datagram.length() == DatagramLayout.HEADER_BYTES + DatagramLayout.COOKIE_BYTES) {
            byte[] found = new byte[DatagramLayout.COOKIE_BYTES];
            datagram.bytes().get(DatagramLayout.HEADER_BYTES, found);
            if (cookie == null) {
                dueNs = nowNs; // a later answer to a repeated request changes nothing at once
            }
            cookie = found;
        }
    }

    int produce(long nowNs, long ownId, int encryption, Datagram out) {
        if (dueNs - nowNs > 0) {
            return 0;
        }
        dueNs = nowNs + waitNs;
        waitNs = Math.min(LONGEST_NS, 2 * waitNs);
        byte[] answer = cookie;
        out.begin(answer == null ? DatagramLayout.INIT : DatagramLayout.OPEN, 0, ownId, encryption);
        if (answer != null) {
            out.bytes().put(answer);
        }
        while (out.bytes().position() < DatagramLayout.REQUEST_BYTES) {
            out.bytes().put((byte) 0);
        }
        return out.seal();
    }
}
