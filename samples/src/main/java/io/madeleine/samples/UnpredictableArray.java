package io.madeleine.samples;

import static io.madeleine.api.ReceiveMode.CHEAPER;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.util.stream.IntStream;

/**
 * Figure 1 of the Madeleine II paper: an array whose size the receiver cannot know. The size travels EXPRESS, since the
 * receiver needs it to allocate the array. The array travels CHEAPER: Madeleine chooses the cheapest way.
 *
 * <pre>
 * ./mad run -n 2 samples/src/main/java/io/madeleine/samples/UnpredictableArray.java
 *
 * [0] sent 1000 integers
 * [0] sent 0 integers
 * [0] sent 250000 integers
 * [1] received 1000 integers from rank 0, their sum is 499500
 * [1] received 0 integers from rank 0, their sum is 0
 * [1] received 250000 integers from rank 0, their sum is 31249875000
 * </pre>
 */
public final class UnpredictableArray {
    private static final int[] SIZES = {1_000, 0, 250_000};

    private UnpredictableArray() {}

    /** Rank 0 sends, rank 1 receives. */
    public static void main(String[] arguments) {
        try (Session session = Session.open(arguments)) {
            if (session.size() != 2) {
                throw new IllegalArgumentException("expected 2 processes (mad run -n 2), found " + session.size());
            }
            Channel channel = session.channel();
            for (int size : SIZES) {
                if (session.rank() == 0) {
                    send(channel, IntStream.range(0, size).toArray());
                } else {
                    receive(channel);
                }
            }
        }
    }

    private static void send(Channel channel, int[] array) {
        try (OutgoingMessage message = channel.beginPacking(1)) {
            message.packInt(array.length); // scalars are always EXPRESS
            message.pack(array, SendMode.CHEAPER, CHEAPER);
            message.endPacking();
        }
        System.out.println("sent " + array.length + " integers");
    }

    private static void receive(Channel channel) {
        try (IncomingMessage message = channel.beginUnpacking()) {
            int remote = message.remote();
            int size = message.unpackInt(); // EXPRESS: available when the call returns
            int[] array = new int[size];
            message.unpack(array, SendMode.CHEAPER, CHEAPER);
            message.endUnpacking(); // only now the array is complete
            System.out.println("received " + size + " integers from rank " + remote + ", their sum is "
                    + IntStream.of(array).asLongStream().sum());
        }
    }
}
