package io.madeleine.testkit;

import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;

/**
 * The shared state of the two ends of a connection: a pipe for each link and direction, and whether an end has finished
 * or closed.
 *
 * <p>Threading: thread-safe.
 */
final class LoopWire {
    /** One end of the wire. */
    static final class End {
        final LoopAdapter adapter;
        volatile boolean finished;
        volatile boolean closed;
        volatile boolean givenUp;
        volatile boolean interested = true;

        End(LoopAdapter adapter) {
            this.adapter = adapter;
        }
    }

    private final End first;
    private final End second;
    private final LoopPipe[] fromFirst;
    private final LoopPipe[] fromSecond;

    LoopWire(LoopRendezvous.Visitor one, LoopRendezvous.Visitor other) {
        first = new End(one.adapter());
        second = new End(other.adapter());
        fromFirst = pipes(one, other);
        fromSecond = pipes(other, one);
    }

    private static LoopPipe[] pipes(LoopRendezvous.Visitor sender, LoopRendezvous.Visitor receiver) {
        List<TransmissionCapabilities> modules = sender.request().modules();
        return modules.stream()
                .map(module -> sender.adapter()
                        .tm(module.id())
                        .newPipe(
                                receiver.adapter().tm(module.id()),
                                sender.adapter().fabric()))
                .toArray(LoopPipe[]::new);
    }

    End endOf(LoopAdapter adapter) {
        return adapter == first.adapter ? first : second;
    }

    End otherEnd(LoopAdapter adapter) {
        return adapter == first.adapter ? second : first;
    }

    LoopPipe[] outgoing(LoopAdapter adapter) {
        return adapter == first.adapter ? fromFirst : fromSecond;
    }

    LoopPipe[] incoming(LoopAdapter adapter) {
        return adapter == first.adapter ? fromSecond : fromFirst;
    }
}
