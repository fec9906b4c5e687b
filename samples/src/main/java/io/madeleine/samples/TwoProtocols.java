package io.madeleine.samples;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Two networks in one program, each used for its strength: orders go over the channel {@code control}, data over the
 * channel {@code bulk}. The configuration alone determines which network carries which channel.
 *
 * <p>Rank 0 orders blocks of data from rank 1, which confirms each order at once and delivers in the background. The
 * channels are independent: a confirmation can overtake the data of earlier orders.
 *
 * <pre>
 * ./mad run -n 2 --conf samples/conf/two-protocols.conf samples/src/main/java/io/madeleine/samples/TwoProtocols.java
 *
 * [0] control goes over sci, bulk over tcp
 * [0] order 1 of 4096 bytes is confirmed
 * [0] order 2 of 65536 bytes is confirmed
 * [0] order 3 of 4194304 bytes is confirmed
 * [0] order 1 is here, 4096 bytes are 1
 * [0] order 2 is here, 65536 bytes are 2
 * [0] order 3 is here, 4194304 bytes are 3
 * [1] delivered 3 orders
 * </pre>
 */
public final class TwoProtocols {
    private static final long[] ORDERED_BYTES = {4 << 10, 64 << 10, 4 << 20};
    private static final long NO_MORE = 0;

    private TwoProtocols() {}

    /** Rank 0 orders, rank 1 delivers. */
    public static void main(String[] arguments) {
        try (Session session = Session.open(arguments)) {
            if (session.size() != 2) {
                throw new IllegalArgumentException("expected 2 processes (mad run -n 2), found " + session.size());
            }
            if (session.rank() == 0) {
                order(session.channel("control"));
                receive(session.channel("bulk"));
            } else {
                serve(session.channel("control"), session.channel("bulk"));
            }
        }
    }

    private static void order(Channel control) {
        System.out.println("control goes over " + control.network(1) + ", bulk over "
                + control.session().channel("bulk").network(1));
        for (long bytes : ORDERED_BYTES) {
            sendNumber(control, 1, bytes);
            System.out.println("order " + receiveNumber(control) + " of " + bytes + " bytes is confirmed");
        }
        sendNumber(control, 1, NO_MORE);
    }

    private static void receive(Channel bulk) {
        for (int order = 1; order <= ORDERED_BYTES.length; order++) {
            MemorySegment data = bulk.session().allocate(ORDERED_BYTES[order - 1]);
            try (IncomingMessage message = bulk.beginUnpacking()) {
                message.unpack(data);
                message.endUnpacking();
            }
            System.out.println("order " + order + " is here, " + count(data, order) + " bytes are " + order);
        }
    }

    private static long count(MemorySegment data, int value) {
        return data.elements(ValueLayout.JAVA_BYTE)
                .filter(element -> element.get(ValueLayout.JAVA_BYTE, 0) == value)
                .count();
    }

    private static void serve(Channel control, Channel bulk) {
        int orders = 0;
        try (ExecutorService background = Executors.newSingleThreadExecutor()) {
            for (long bytes = receiveNumber(control); bytes != NO_MORE; bytes = receiveNumber(control)) {
                int order = ++orders;
                MemorySegment data = bulk.session().allocate(bytes).fill((byte) order);
                background.execute(() -> deliver(bulk, data));
                sendNumber(control, 0, order);
            }
        } // close() waits for the last delivery
        System.out.println("delivered " + orders + " orders");
    }

    private static void deliver(Channel bulk, MemorySegment data) {
        try (OutgoingMessage message = bulk.beginPacking(0)) {
            message.pack(data);
            message.endPacking();
        }
    }

    private static void sendNumber(Channel channel, int remote, long number) {
        try (OutgoingMessage message = channel.beginPacking(remote)) {
            message.packLong(number);
            message.endPacking();
        }
    }

    private static long receiveNumber(Channel channel) {
        try (IncomingMessage message = channel.beginUnpacking()) {
            long number = message.unpackLong();
            message.endUnpacking();
            return number;
        }
    }
}
