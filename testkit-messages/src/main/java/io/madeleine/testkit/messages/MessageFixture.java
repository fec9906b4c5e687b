package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.together;

import io.madeleine.api.Channel;

/**
 * What the parts of the contract of messages need of a test: a network and sessions over it.
 * {@link AbstractMessageTest} has it.
 */
public interface MessageFixture {
    /** The network of the test. */
    MessageSetup setup();

    /** Opens sessions; they are closed at the end of the test, if not before. */
    void open(LocalSessions.Builder builder);

    /** Opens sessions of so many ranks. */
    default void open(int size) {
        open(setup().sessions(size));
    }

    /** The opened sessions. */
    LocalSessions sessions();

    /** The default channel of a rank. */
    default Channel channel(int rank) {
        return sessions().channel(rank);
    }

    /** Closes the sessions, so that others can be opened; no effect if none are open. */
    void close();

    /** Checks that the connection between two ranks works in both directions. */
    default void checkUsable(int one, int other) {
        together(
                () -> {
                    send(channel(one), other, 1000, 8, 200, 70_000);
                    receive(channel(one), 2000, 8, 200, 70_000);
                },
                () -> {
                    receive(channel(other), 1000, 8, 200, 70_000);
                    send(channel(other), one, 2000, 8, 200, 70_000);
                });
        together(() -> send(channel(one), other, 3000, 12), () -> receive(channel(other), 3000, 12));
    }
}
