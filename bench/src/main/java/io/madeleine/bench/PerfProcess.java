package io.madeleine.bench;

import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.Wire;
import java.util.List;
import java.util.Optional;

/**
 * One of the two processes of a network's measurement.
 *
 * <p>Threading: confined to caller.
 */
public final class PerfProcess {
    /** The channel that is measured; {@code mad perf} configures it. */
    static final String CHANNEL = "mad-perf";

    /** The argument that has the process pinned. */
    static final String PIN = "pin";

    /** The argument that has messages received by a handler. */
    static final String HANDLED = "handled";

    /** The argument that begins with this says in which memory messages are. */
    static final String MEMORY = "memory=";

    /** The argument that begins with this says in which mode blocks are sent. */
    static final String SEND_MODE = "send-mode=";

    /** The system property that has it measure in a virtual thread: the session's own thread then polls for it. */
    private static final String VIRTUAL = "io.madeleine.bench.virtual";

    private PerfProcess() {}

    /** Started by {@code mad perf}. */
    public static void main(String[] arguments) throws InterruptedException {
        if (Boolean.getBoolean(VIRTUAL)) {
            Thread.ofVirtual().start(() -> measure(arguments)).join();
        } else {
            measure(arguments);
        }
    }

    private static void measure(String[] arguments) {
        Session session = Session.open();
        List<String> asked = List.of(arguments);
        if (asked.contains(PIN)) {
            Pinning.pinThisProcess(session.rank());
        }
        MessageMemory memory = value(asked, MEMORY).map(MessageMemory::valueOf).orElse(MessageMemory.SESSION);
        SendMode sendMode = value(asked, SEND_MODE).map(SendMode::valueOf).orElse(SendMode.CHEAPER);
        ControlLine.serve(session.rank(), (_, line) -> {
            line.exchangeContacts("-");
            if (asked.contains(HANDLED)) {
                return new HandlerWire(session, CHANNEL, memory, sendMode);
            }
            Wire plain = new ChannelWire(session, CHANNEL, memory, sendMode);
            return session.channelNames().contains(CallWire.CHANNEL) ? new CallWire(session, plain) : plain;
        });
    }

    private static Optional<String> value(List<String> arguments, String prefix) {
        return arguments.stream()
                .filter(word -> word.startsWith(prefix))
                .map(word -> word.substring(prefix.length()))
                .findFirst();
    }
}
