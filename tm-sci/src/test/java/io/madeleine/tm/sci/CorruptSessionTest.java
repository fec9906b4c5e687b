package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.testkit.messages.LocalSessions;
import io.madeleine.tm.sci.link.CellLayout;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.RingLayout;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.wake.Watched;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sessions whose shared memory is written to by somebody else, with packets that are well formed and out of place: a
 * call fails with an error of the API, or comes back in its time; nothing else happens.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CorruptSessionTest {
    private static final long RUN_NS = TimeUnit.SECONDS.toNanos(Boolean.getBoolean("thorough") ? 60 : 2);
    /** Until there have been two outcomes, on a machine that is busy. */
    private static final long LONGEST_RUN_NS = RUN_NS + 40_000_000_000L;

    private static final long DEADLINE_MS = 20;
    private static final int MESSAGES = 6;

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final List<SciConnection> connections = new CopyOnWriteArrayList<>();

    @TempDir
    Path directory;

    /** The driver, of which the test learns the connections. */
    private record Watched(ProtocolModule driver, List<SciConnection> made) implements ProtocolModule {
        @Override
        public String name() {
            return driver.name();
        }

        @Override
        public Availability availability() {
            return driver.availability();
        }

        @Override
        public List<TransmissionCapabilities> transmissionModules() {
            return driver.transmissionModules();
        }

        @Override
        public List<String> adapterNames() {
            return driver.adapterNames();
        }

        @Override
        public Adapter openAdapter(String name, ProcessContext context) {
            return new WatchedAdapter(driver.openAdapter(name, context), made);
        }
    }

    private record WatchedAdapter(Adapter adapter, List<SciConnection> made) implements Adapter {
        @Override
        public String name() {
            return adapter.name();
        }

        @Override
        public String address() {
            return adapter.address();
        }

        @Override
        public Optional<String> unreachable(String peerAddress) {
            return adapter.unreachable(peerAddress);
        }

        @Override
        public ProtocolChannel openChannel(String channelName) {
            ProtocolChannel channel = adapter.openChannel(channelName);
            return new ProtocolChannel() {
                @Override
                public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
                    CompletableFuture<ProtocolConnection> future = channel.connect(request);
                    future.thenAccept(connection -> made.add((SciConnection) connection));
                    return future;
                }

                @Override
                public void close() {
                    channel.close();
                }
            };
        }

        @Override
        public ProgressSource progress() {
            return adapter.progress();
        }

        @Override
        public void close() {
            adapter.close();
        }
    }

    @Test
    void shouldFailWithAnErrorOfTheApiOrNotAtAll() throws Exception {
        SciConfig config = SciConfig.from(Side.config(directory, Mortal.SETTINGS));
        Map<String, Integer> outcomes = new TreeMap<>();
        long beganNs = System.nanoTime();
        while (System.nanoTime() - beganNs < (outcomes.size() > 1 ? RUN_NS : LONGEST_RUN_NS)) {
            connections.clear();
            try (LocalSessions sessions = LocalSessions.of(2)
                    .network("sci", _ -> new Watched(new SciPmm(config), connections))
                    .open()) {
                outcomes.merge(talk(sessions), 1, Integer::sum);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("with -Dseed=" + seed + ": " + e, e);
            }
        }
        System.out.println("seed " + seed + ": " + outcomes);
        assertTrue(outcomes.size() > 1, outcomes.toString());
    }

    /** Sends messages, meddling between; answers what came of it. */
    private String talk(LocalSessions sessions) {
        int corruptions = random.nextInt(1, 4);
        try {
            for (int i = 0; i < MESSAGES; i++) {
                Completion sent = send(sessions.channel(0));
                if (corruptions > 0 && random.nextBoolean()) {
                    corruptions--;
                    corrupt();
                }
                receive(sessions.channel(1));
                if (!sent.await(DEADLINE_MS, TimeUnit.MILLISECONDS)) {
                    return "not sent in time";
                }
            }
            return "all received";
        } catch (MadeleineException e) {
            return e.getClass().getSimpleName();
        }
    }

    private int bytes() {
        return random.nextBoolean() ? 100 : 10_000;
    }

    private Completion send(Channel channel) {
        MemorySegment block = MemorySegment.ofArray(new byte[bytes()]);
        return channel.beginPacking(1)
                .packInt((int) block.byteSize())
                .pack(block)
                .endPackingAsync();
    }

    private void receive(Channel channel) {
        IncomingMessage in =
                channel.beginUnpacking(DEADLINE_MS, TimeUnit.MILLISECONDS).within(DEADLINE_MS, TimeUnit.MILLISECONDS);
        try {
            int bytes = Math.clamp(in.unpackInt(), 0, 1 << 20);
            in.unpack(MemorySegment.ofArray(new byte[bytes]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            in.endUnpacking();
        } finally {
            in.close();
        }
    }

    /** Puts a packet, or anything, where the receiver looks next, or may look later. */
    private void corrupt() {
        PairSegment segment =
                connections.get(random.nextInt(connections.size())).segment();
        PairLayout layout = segment.layout();
        RingLayout ring = layout.rings().getFirst().get(segment.otherSide());
        CellLayout line = layout.cells().getLast().get(segment.otherSide());
        int cell = random.nextInt(line.cells());
        long offset = switch (random.nextInt(5)) {
            case 0 -> line.state(cell);
            case 1 -> line.header(cell);
            case 2 -> line.trailer(cell);
            case 3 -> PairLayout.state(segment.otherSide());
            default -> ring.headerOffset(random.nextInt(ring.ringBytes() / Long.BYTES) * (long) Long.BYTES);
        };
        OrderedWords.setVolatile(segment.memory(), offset, value());
    }

    private long value() {
        return random.nextInt(5) == 0
                ? random.nextLong()
                : PacketHeader.of(random.nextInt(300), random.nextInt(8), random.nextInt(4), random.nextInt(16));
    }
}
