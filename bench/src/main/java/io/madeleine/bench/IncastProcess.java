package io.madeleine.bench;

import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Samples;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.switching.SelectionTable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * One of the three processes that measure {@link Pattern#GOODPUT_INCAST}, without a session: rank 0 asks all senders at
 * once for a block each, and takes them; ranks 1 and 2 have an adapter for each of their senders.
 *
 * <p>Threading: confined to caller.
 */
public final class IncastProcess implements ControlLine.Program {
    /** How many processes send. */
    static final int SENDING_PROCESSES = 2;

    /** How many senders each of them has. */
    static final int SENDERS_PER_PROCESS = 16;

    private static final int SETTINGS = 2;

    /** The size of a request for a block, whose first byte is 1 if another request will follow. */
    private static final long ASK_BYTES = 8;

    /** A process that finds nothing to do sleeps for this long, as a session does: the kernel needs the processors. */
    private static final long NAP_NS = 20_000;

    /** After this time without an event, nothing that was sent is missing at the receiver. */
    private static final long QUIET_NS = 200_000_000;

    private final int rank;
    private final SelectionTable table;
    private final List<BareAdapter> adapters;
    private final List<IncastEnd> ends;
    private final MemorySegment memory;
    private final MemorySegment[] asks;

    private IncastProcess(BareNetwork network, int rank, ControlLine line) throws IOException {
        this.rank = rank;
        this.table = SelectionTable.of(network.module().transmissionModules());
        int senders = SENDING_PROCESSES * SENDERS_PER_PROCESS;
        int first = rank == 0 ? 1 : 1 + (rank - 1) * SENDERS_PER_PROCESS;
        int[] numbers = IntStream.range(first, first + (rank == 0 ? senders : SENDERS_PER_PROCESS))
                .toArray();
        adapters = (rank == 0 ? IntStream.of(0) : Arrays.stream(numbers))
                .mapToObj(number -> new BareAdapter(network, number, line.token()))
                .toList();
        String own = adapters.getFirst().adapter().address();
        String said = line.exchangeContacts(Base64.getEncoder().encodeToString(own.getBytes(StandardCharsets.UTF_8)));
        String receiver = new String(Base64.getDecoder().decode(said), StandardCharsets.UTF_8);
        ends = connect(numbers, receiver);
        memory = adapters.getFirst()
                .arenas()
                .lasting()
                .allocate(rank == 0 ? senders * line.memoryBytes() : line.memoryBytes());
        asks = ends.stream()
                .map(_ -> MemorySegment.ofArray(new byte[(int) ASK_BYTES]))
                .toArray(MemorySegment[]::new);
    }

    /** Started by {@code mad perf} with network, rank, and settings. */
    public static void main(String[] arguments) throws ReflectiveOperationException {
        int rank = Integer.parseInt(arguments[1]);
        BareNetwork network =
                BareNetwork.of(arguments[0], Arrays.asList(arguments).subList(SETTINGS, arguments.length));
        ControlLine.serveProgram(rank, line -> new IncastProcess(network, rank, line));
        System.exit(0); // threads of the network may be left
    }

    private List<IncastEnd> connect(int[] numbers, String receiver) {
        long deadlineNs = System.nanoTime() + Wire.PATIENCE_NS;
        List<CompletableFuture<ProtocolConnection>> made = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            made.add((rank == 0 ? adapters.getFirst() : adapters.get(i))
                    .adapter()
                    .openChannel("sender-" + numbers[i])
                    .connect(new ConnectionRequest(
                            BareAdapter.identity(rank == 0 ? numbers[i] : 0),
                            receiver,
                            rank != 0,
                            table.modules(),
                            table.digest(),
                            deadlineNs)));
        }
        while (!made.stream().allMatch(CompletableFuture::isDone)) {
            if (deadlineNs - System.nanoTime() < 0) {
                throw new MeasuringException("the processes do not connect");
            }
            boolean _ = pollOrNap(0);
        }
        return made.stream().map(each -> new IncastEnd(each.join(), table)).toList();
    }

    /** Polls all adapters; sleeps if neither they nor their user did anything. Returns whether they did. */
    private boolean pollOrNap(long done) {
        long work = done;
        for (BareAdapter adapter : adapters) {
            work += adapter.poll();
        }
        if (work == 0) {
            LockSupport.parkNanos(NAP_NS);
        }
        return work > 0;
    }

    @Override
    public Pattern pattern(String word) {
        return Patterns.of(word);
    }

    @Override
    public Round carryOut(Order order) {
        Samples samples = new Samples(order);
        if (rank == 0) {
            receive(order.bytes(), samples);
        } else {
            send(memory.asSlice(0, order.bytes()));
            samples.begin();
            samples.end(0, 1); // the receiver's count
        }
        return samples.round();
    }

    // ---- receiving

    private void receive(long bytes, Samples samples) {
        for (long count = 0; samples.isCold(count); count += ends.size()) {
            receiveRound(bytes, true);
        }
        boolean more = true;
        while (more) {
            long beginNs = System.nanoTime();
            samples.begin();
            more = !samples.isOver();
            receiveRound(bytes, more);
            samples.end(GoodputProcess.share(bytes * ends.size(), System.nanoTime() - beginNs), ends.size());
        }
    }

    /** Asks each sender for a block and takes them. */
    private void receiveRound(long bytes, boolean more) {
        for (int i = 0; i < asks.length; i++) {
            asks[i].fill((byte) (more ? 1 : 0));
            ends.get(i).send(asks[i]);
            ends.get(i).receive(memory.asSlice(i * bytes, bytes));
        }
        long movedNs = System.nanoTime();
        while (ends.stream().anyMatch(IncastEnd::isReceiving)) {
            long moved = 0;
            for (int i = 0; i < asks.length; i++) {
                IncastEnd end = ends.get(i);
                moved += end.isSending() && end.goOnSending(asks[i]) ? 1 : 0;
                moved += end.isReceiving() ? end.goOnReceiving(bytes) : 0;
            }
            movedNs = moved > 0 ? System.nanoTime() : movedNs;
            if (System.nanoTime() - movedNs > Wire.PATIENCE_NS) {
                throw new MeasuringException("nothing comes from the senders");
            }
            boolean _ = pollOrNap(moved);
        }
    }

    // ---- sending

    private void send(MemorySegment block) {
        boolean[] over = new boolean[asks.length];
        for (int i = 0; i < asks.length; i++) {
            ends.get(i).receive(asks[i]);
        }
        for (int left = asks.length; left > 0; ) {
            long done = 0;
            for (int i = 0; i < asks.length; i++) {
                IncastEnd end = ends.get(i);
                if (end.isSending() && end.goOnSending(block)) {
                    done++;
                    left -= over[i] ? 1 : 0;
                }
                if (end.isReceiving() && end.goOnReceiving(ASK_BYTES) > 0 && !end.isReceiving()) {
                    done++;
                    over[i] = asks[i].get(ValueLayout.JAVA_BYTE, 0) == 0;
                    end.send(block);
                    if (!over[i]) {
                        end.receive(asks[i]);
                    }
                }
            }
            boolean _ = pollOrNap(done);
        }
        deliver();
    }

    /** Goes on until nothing has happened for a while: what has left may be lost, and has to be sent again. */
    private void deliver() {
        long happenedNs = System.nanoTime();
        while (System.nanoTime() - happenedNs < QUIET_NS) {
            happenedNs = pollOrNap(0) ? System.nanoTime() : happenedNs;
        }
    }

    @Override
    public void close() {
        adapters.forEach(BareAdapter::close);
    }
}
