package io.madeleine.tm.sci;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.files.Digests;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SciAddress;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.CellProducer;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.wake.Inbox;
import io.madeleine.tm.sci.wake.InboxLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A process that dies between two steps of the protocol, as if killed there: it does what comes before by the means of
 * the module, or by hand, and halts. It reads no configuration and wires nothing, so that it starts quickly.
 */
final class Mortal {
    /** Where it dies. */
    enum Step {
        // coming into being
        BEFORE_ITS_RECORD_HAS_A_NAME,
        BEFORE_IT_LISTENS,
        BEFORE_IT_CONNECTS,
        IN_THE_MIDDLE_OF_HELLO,
        // making a connection
        AFTER_HELLO,
        BEFORE_ITS_OFFER_HAS_A_NAME,
        AFTER_ITS_OFFER,
        BEFORE_IT_ANSWERS,
        AFTER_ITS_CHALLENGE,
        AFTER_CONNECTING,
        // sending
        BEFORE_IT_PUBLISHES,
        BEFORE_IT_ANNOUNCES,
        BETWEEN_FLAG_AND_SUMMARY,
        BEFORE_IT_RINGS,
        IN_THE_MIDDLE_OF_A_PACKET,
        ASLEEP_WAITING_FOR_ROOM,
        // receiving
        HOLDING_A_RECORD,
        HOLDING_A_CELL,
        ASLEEP,
        // going
        AFTER_FINISH,
        AFTER_CLOSE,
        ANYWHERE;

        /** Whether it dies before it says its address. */
        boolean isBeforeTheAddress() {
            return compareTo(BEFORE_IT_CONNECTS) < 0;
        }

        /** Whether its peer can only hear of the death from others: it has no line to the peer yet. */
        boolean isBeforeHello() {
            return compareTo(AFTER_HELLO) < 0;
        }

        boolean isBeforeTheConnection() {
            return compareTo(AFTER_CONNECTING) < 0;
        }

        /** Whether it gets into that state only if its peer takes nothing. */
        boolean needsADeafPeer() {
            return this == IN_THE_MIDDLE_OF_A_PACKET || this == ASLEEP_WAITING_FOR_ROOM;
        }

        boolean isOrderly() {
            return this == AFTER_FINISH || this == AFTER_CLOSE;
        }
    }

    static final String CHANNEL = "mortal";

    /** Small ones: what is there to be filled is filled soon. */
    static final String SETTINGS = SciConfig.ROOT
            + " { short { buffer = 256, ring = 2 KiB }, regular { cell = 4 KiB, cells = 2 }, dma.single-copy = off }";

    private static final int LARGE_BYTES = 100_000;

    private final Path directory;
    private final ProcessIdentity identity;
    private final SelectorReactor reactor = new SelectorReactor();
    private final SciConfig config;

    private Mortal(Path directory, long id) {
        this.directory = directory;
        this.identity = new ProcessIdentity(id, 0);
        this.config = new SciConfig(
                true,
                Optional.of(directory),
                8192,
                8192,
                256,
                2048,
                4096,
                2,
                SciConfig.SingleCopyUse.OFF,
                4096,
                Long.MAX_VALUE,
                false,
                Long.MAX_VALUE);
    }

    /** {@code DIRECTORY ID STEP INITIATOR PEER-ID PEER-ADDRESS}; prints its address. */
    static void main(String[] arguments) throws IOException {
        Mortal mortal = new Mortal(Path.of(arguments[0]), Long.parseLong(arguments[1]));
        mortal.run(
                Step.valueOf(arguments[2]),
                Boolean.parseBoolean(arguments[3]),
                new ProcessIdentity(Long.parseLong(arguments[4]), 0),
                arguments[5]);
        throw new AssertionError("it should have died");
    }

    private static void die() {
        Runtime.getRuntime().halt(0);
    }

    private void run(Step step, boolean initiator, ProcessIdentity peer, String address) throws IOException {
        if (step.isBeforeTheAddress()) {
            dieEarly(step);
        }
        SciAdapter adapter = SciAdapter.open(
                "host", config, new ProcessContext(Side.SESSION, identity, Side.SECRET, reactor, new Silence()));
        System.out.println(adapter.address());
        if (step == Step.BEFORE_IT_CONNECTS) {
            die();
        }
        SciAddress found = SciAddress.parse(address).orElseThrow();
        if (step == Step.IN_THE_MIDDLE_OF_HELLO) {
            Path bell = adapter.directory().file(found.stem(), SessionDirectory.BELL);
            SocketChannel line = SocketChannel.open(UnixDomainSocketAddress.of(bell));
            line.write(ByteBuffer.allocate(16));
            die();
        }
        ConnectionRequest request = new ConnectionRequest(
                peer,
                address,
                initiator,
                new SciPmm(config).transmissionModules(),
                Side.DIGEST,
                System.nanoTime() + TimeUnit.SECONDS.toNanos(20));
        SciPeer survivor = adapter.peers().find(request);
        while (!survivor.hasBell()) {
            reactor.poll();
        }
        if (step.isBeforeTheConnection()) {
            dieConnecting(step, adapter, request, found.stem());
        }
        CompletableFuture<ProtocolConnection> future =
                adapter.openChannel(CHANNEL).connect(request);
        while (!future.isDone()) {
            reactor.poll();
            adapter.progress().poll(System.nanoTime());
        }
        dieConnected(step, adapter, survivor, (SciConnection) future.join());
    }

    private void dieEarly(Step step) throws IOException {
        if (step == Step.BEFORE_ITS_RECORD_HAS_A_NAME) {
            Files.createFile(directory
                    .resolve("madeleine-" + Side.SESSION)
                    .resolve(new FileStem(identity, (int) System.nanoTime()) + SessionDirectory.NEW));
        } else {
            SessionDirectory own = SessionDirectory.join(directory, Side.SESSION, identity);
            Inbox.create(own.file(SessionDirectory.INBOX));
        }
        die();
    }

    private void dieConnecting(Step step, SciAdapter adapter, ConnectionRequest request, FileStem peer)
            throws IOException {
        SessionDirectory own = adapter.directory();
        long hash = Digests.hash(CHANNEL);
        switch (step) {
            case BEFORE_ITS_OFFER_HAS_A_NAME ->
                SegmentFile.create(own.pairFile(own.stem(), peer, hash, SessionDirectory.NEW), 8192, Arena.global());
            case AFTER_ITS_OFFER -> {
                ProtocolChannel channel = adapter.openChannel(CHANNEL);
                CompletableFuture<ProtocolConnection> _ = channel.connect(request);
            }
            case BEFORE_IT_ANSWERS -> {
                Path file = own.pairFile(peer, own.stem(), hash, SessionDirectory.PAIR);
                while (!Files.exists(file)) {
                    Thread.onSpinWait();
                }
                SegmentFile.open(file, 4096, 1 << 20, Arena.global());
                Files.delete(file);
            }
            case AFTER_ITS_CHALLENGE -> {
                ProtocolChannel channel = adapter.openChannel(CHANNEL);
                CompletableFuture<ProtocolConnection> _ = channel.connect(request);
                Path file = own.pairFile(peer, own.stem(), hash, SessionDirectory.PAIR);
                while (!Files.exists(file)) {
                    Thread.onSpinWait();
                }
                while (Files.exists(file)) {
                    reactor.poll();
                    adapter.progress().poll(System.nanoTime());
                }
            }
            default -> {}
        }
        die();
    }

    private void dieConnected(Step step, SciAdapter adapter, SciPeer survivor, SciConnection connection)
            throws IOException {
        StaticLink small = (StaticLink) connection.links().getFirst();
        DynamicLink large = (DynamicLink) connection.links().getLast();
        switch (step) {
            case BEFORE_IT_PUBLISHES ->
                small.memory().asSlice(small.claim(), 100).fill((byte) 1);
            case BEFORE_IT_ANNOUNCES -> {
                PairSegment segment = connection.segment();
                CellProducer producer = new CellProducer(
                        segment.memory(), segment.layout().cells().getLast().get(segment.side()));
                producer.open(100);
                producer.send(PacketHeader.of(100, 0, 0, PacketHeader.FIRST), group(100), 0);
            }
            case BETWEEN_FLAG_AND_SUMMARY, BEFORE_IT_RINGS -> announceHalf(step, adapter, survivor, connection);
            case IN_THE_MIDDLE_OF_A_PACKET -> fill(large);
            case ASLEEP_WAITING_FOR_ROOM -> {
                fill(large);
                for (int i = 0; small.claim() >= 0; i++) {
                    small.commit(PacketHeader.of(8, i, 0, PacketHeader.FIRST));
                }
                sleep(adapter);
            }
            case HOLDING_A_RECORD -> awaitFront(small);
            case HOLDING_A_CELL -> {
                awaitFront(large);
                large.skip(1);
            }
            case ASLEEP -> {
                connection.start(new Taker(connection));
                sleep(adapter);
            }
            case AFTER_FINISH -> connection.finish();
            case AFTER_CLOSE -> connection.close();
            case ANYWHERE -> talk(adapter, connection);
            default -> {}
        }
        die();
    }

    /** Announces news as {@link Inbox} does, up to the step. */
    private void announceHalf(Step step, SciAdapter adapter, SciPeer survivor, SciConnection connection)
            throws IOException {
        int slot = connection.segment().peerSlot();
        Path file = adapter.directory().file(survivor.stem(), SessionDirectory.INBOX);
        if (step == Step.BEFORE_IT_RINGS) {
            Inbox.open(file).announce(slot);
        } else {
            MemorySegment inbox = SegmentFile.open(file, InboxLayout.BYTES, InboxLayout.BYTES, Arena.global());
            OrderedWords.setBits(inbox, InboxLayout.word(slot), InboxLayout.bit(slot));
        }
        VarHandle.fullFence();
    }

    private static void fill(DynamicLink link) {
        BufferGroup group = group(LARGE_BYTES);
        while (link.send(PacketHeader.of(LARGE_BYTES, 0, 0, PacketHeader.FIRST), group, 0) != LinkStatus.PENDING) {
            group = group(LARGE_BYTES);
        }
    }

    /** Falls asleep as the engine does, and dies in its sleep. */
    private void sleep(SciAdapter adapter) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Thread.sleep(3);
            } catch (InterruptedException _) {
                // then it dies earlier
            }
            die();
        });
        while (true) {
            adapter.progress().poll(System.nanoTime());
            if (adapter.progress().armForBlocking()) {
                reactor.sleep(TimeUnit.SECONDS.toNanos(10));
            }
            adapter.progress().disarm();
        }
    }

    private static void awaitFront(TransmissionLink link) {
        while (link.front() == 0) {
            Thread.onSpinWait();
        }
    }

    /** Takes and sends until somebody kills it. */
    private void talk(SciAdapter adapter, SciConnection connection) {
        Feeder feeder = new Feeder(connection);
        connection.start(new Taker(connection));
        while (true) {
            if (!feeder.feed() && adapter.progress().poll(System.nanoTime()) == 0) {
                if (adapter.progress().armForBlocking()) {
                    reactor.sleep(TimeUnit.SECONDS.toNanos(10));
                }
                adapter.progress().disarm();
            }
            reactor.poll();
        }
    }

    private static BufferGroup group(int bytes) {
        BufferGroup group = new BufferGroup();
        group.add(MemorySegment.ofArray(new byte[bytes]), 0, bytes);
        return group;
    }

    /** Sends on both links as long as there is room. */
    static final class Feeder {
        private final StaticLink small;
        private final DynamicLink large;
        private BufferGroup group = group(LARGE_BYTES);
        private int smallCount;
        private int largeCount;

        Feeder(ProtocolConnection connection) {
            small = (StaticLink) connection.links().getFirst();
            large = (DynamicLink) connection.links().getLast();
        }

        /** Sends a packet on each link; whether something was sent. */
        boolean feed() {
            boolean sent = false;
            if (small.claim() >= 0) {
                small.commit(PacketHeader.of(smallCount % 250, smallCount++, 0, PacketHeader.FIRST));
                VarHandle.fullFence();
                small.announce();
                sent = true;
            }
            long header = PacketHeader.of(LARGE_BYTES, largeCount, 0, PacketHeader.FIRST);
            if (large.send(header, group, 0) == LinkStatus.COMPLETE) {
                largeCount++;
                group = group(LARGE_BYTES);
                sent = true;
            }
            return sent;
        }

        boolean isClosed() {
            return small.claim() == LinkStatus.CLOSED
                    && large.send(PacketHeader.of(LARGE_BYTES, largeCount, 0, PacketHeader.FIRST), group, 0)
                            == LinkStatus.CLOSED;
        }
    }

    /** Takes what comes on both links, and checks its order. */
    static final class Taker implements ConnectionListener {
        private final List<TransmissionLink> links;
        private final int[] counts = new int[2];
        private final long[] takenBytes = new long[2];
        private String lost = "";

        Taker(ProtocolConnection connection) {
            links = connection.links();
        }

        @Override
        public int onReadable() {
            return take(0) + take(1);
        }

        private int take(int index) {
            TransmissionLink link = links.get(index);
            int work = 0;
            for (long header; (header = link.front()) > 0; counts[index]++) {
                if (!PacketHeader.isCount(PacketHeader.sequence(header), counts[index])) {
                    throw new AssertionError(PacketHeader.describe(header) + " in place of " + counts[index]);
                }
                int bytes = PacketHeader.payloadBytes(header);
                for (long part; takenBytes[index] < bytes; takenBytes[index] += part) {
                    part = link.skip(bytes - takenBytes[index]);
                    if (part == 0) {
                        return work;
                    }
                    work++;
                }
                takenBytes[index] = 0;
                link.release();
                work++;
            }
            return work;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            lost = orderly + " " + reason;
        }

        /** How the connection ended; empty while it has not. */
        String lost() {
            return lost;
        }
    }

    /** Logs nothing: the system's logging would take longer to start than all the rest. */
    private static final class Silence implements System.Logger {
        @Override
        public String getName() {
            return "silence";
        }

        @Override
        public boolean isLoggable(Level level) {
            return false;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
            // nobody reads it
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
            // nobody reads it
        }
    }
}
