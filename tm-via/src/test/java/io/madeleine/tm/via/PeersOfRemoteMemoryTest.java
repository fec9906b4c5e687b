package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import io.madeleine.tm.via.remote.ViaRemoteMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Remote memory keeps a peer among those of the endpoint while it uses it, and nothing at all of strangers. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class PeersOfRemoteMemoryTest {
    private static final int STRANGERS = 500;
    private static final int ATTACHMENTS = 400;
    private static final int FIXED_BYTES = 48;
    private static final int KEY_AT = 8;
    private static final byte[] SECRET = {1, 2, 3};
    private static final byte[] OTHER_SECRET = {4, 5, 6};
    private static final long QUIET_NS = 200_000_000L;

    /** The word that a put of 8 bytes has written, or the failure. */
    private static final class Outcome implements RemoteCompletion {
        private boolean done;

        @Override
        public void completed(long before) {
            done = true;
        }

        @Override
        public void failed(RemoteMemoryException why) {
            throw why;
        }
    }

    /** Messages whose sender does not know the session's secret, each with another address. */
    private static final class Stranger implements Completion {
        private final ViaPort port;
        private final Slab slab;
        private final int operation;
        private boolean isFree = true;

        Stranger(Side side) {
            port = ((ViaAdapter) side.adapter).port();
            slab = port.newSlab(4096, Flags.FI_SEND);
            operation = port.newOperations(this, 1);
        }

        boolean send(long peer, long key, long number, String address) {
            byte[] text = address.getBytes(StandardCharsets.US_ASCII);
            MessageFlyweight.address(
                    slab.memory(), 0, MessageFlyweight.NO_CONNECTION, MessageFlyweight.ATTACH, key, number);
            MessageFlyweight.credits(slab.memory(), 0, 0, 0, 0);
            MemorySegment.copy(
                    text,
                    0,
                    slab.memory(),
                    ValueLayout.JAVA_BYTE,
                    MessageFlyweight.BYTES + (long) FIXED_BYTES,
                    text.length);
            int bytes = MessageFlyweight.BYTES + FIXED_BYTES + text.length;
            isFree =
                    port.sendWithCompletion(slab.address(), bytes, slab.descriptor(), peer, operation) != ViaPort.BEGUN;
            return !isFree;
        }

        @Override
        public void completed(int tag, long bytes) {
            isFree = true;
        }

        @Override
        public void failed(int tag, int code, String reason) {
            throw new AssertionError(reason);
        }
    }

    private static ViaAddress forged(Side side, int number) {
        ViaAddress own = ViaAddress.read(side.adapter.address()).orElseThrow();
        byte[] name = own.name();
        if (own.provider().equals("shm")) {
            name = ("fi_shm://forged" + number + "\0").getBytes(StandardCharsets.US_ASCII);
        } else {
            ByteBuffer.wrap(name).putShort(2, (short) (20_000 + number)); // the port
        }
        return new ViaAddress(
                own.provider(),
                own.host(),
                own.pidNamespace(),
                own.pid(),
                own.startTicks(),
                java.util.HexFormat.of().formatHex(name));
    }

    private static int peers(Side side) {
        return ((ViaAdapter) side.adapter).peerCount();
    }

    private static ExportedMemory export(Side owner, MemorySegment memory) {
        return owner.adapter.remoteMemory().orElseThrow().export(memory, RemoteMemory.Access.READ_WRITE);
    }

    private static AttachedMemory attach(Side side, Side owner, byte[] descriptor) {
        RemoteMemory remote = side.adapter.remoteMemory().orElseThrow();
        CompletableFuture<AttachedMemory> attaching = CompletableFuture.supplyAsync(() -> remote.attach(descriptor));
        Side.drive(side, owner, attaching::isDone);
        return attaching.join();
    }

    private static void putAndCheck(Side side, Side owner, AttachedMemory attached, MemorySegment there, long value) {
        MemorySegment own = side.arenas.lasting().allocate(Long.BYTES, Long.BYTES);
        own.set(ValueLayout.JAVA_LONG, 0, value);
        Outcome outcome = new Outcome();
        attached.put(own, 0, 0, Long.BYTES, outcome);
        Side.drive(side, owner, () -> outcome.done);
        assertEquals(value, there.get(ValueLayout.JAVA_LONG, 0));
    }

    /** The owner's next message may say that the memory has another use, and another thread may act on it at once. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldBeginNoOperationOnceTheRevocationHasArrived(String provider) {
        String session = "revoked-" + System.nanoTime();
        try (Side owner = new Side(Fabrics.driver(provider, ""), session, 1);
                Side holder = new Side(Fabrics.driver(provider, ""), session, 2)) {
            MemorySegment memory = owner.arenas.lasting().allocateShared(4096);
            ExportedMemory export = export(owner, memory);
            AttachedMemory attached = attach(holder, owner, export.descriptor());
            putAndCheck(holder, owner, attached, memory, 1);
            export.close();
            ViaPort port = ((ViaAdapter) holder.adapter).port();
            ViaRemoteMemory remote =
                    (ViaRemoteMemory) holder.adapter.remoteMemory().orElseThrow();
            long startNs = System.nanoTime();
            while (!remote.hasWork()) { // the holder takes what arrives, and handles nothing yet
                assertTrue(System.nanoTime() - startNs < Side.PATIENCE_NS, "the revocation has not arrived");
                owner.poll();
                int _ = port.poll();
            }
            MemorySegment own = holder.arenas.lasting().allocate(Long.BYTES, Long.BYTES);
            own.set(ValueLayout.JAVA_LONG, 0, 2);
            RemoteMemoryException why =
                    assertThrows(RemoteMemoryException.class, () -> attached.put(own, 0, 0, Long.BYTES, new Outcome()));
            assertEquals(RemoteMemoryException.Kind.REVOKED, why.kind());
            Side.drive(holder, owner, () -> export.revoke(0));
            assertEquals(1, memory.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    @Tag("measures")
    void shouldKeepNothingOfStrangers(String provider) {
        String session = "strangers-" + System.nanoTime();
        Side owner = new Side(Fabrics.driver(provider, ""), session, 1, SECRET);
        Side other = new Side(Fabrics.driver(provider, ""), session, 2, OTHER_SECRET);
        Side member = new Side(Fabrics.driver(provider, ""), session, 3, SECRET);
        try (owner;
                other;
                member) {
            MemorySegment memory = owner.arenas.lasting().allocateShared(4096);
            byte[] descriptor = export(owner, memory).descriptor();
            long key = ByteBuffer.wrap(descriptor).getLong(KEY_AT);
            Stranger stranger = new Stranger(other);
            long peer =
                    stranger.port.addPeer(((ViaAdapter) owner.adapter).port().name());
            for (int i = 0; i < STRANGERS; i++) {
                String address = forged(other, i).toString();
                long asked = i % 2 == 0 ? key : i;
                long number = i;
                Side.drive(other, owner, () -> stranger.isFree && stranger.send(peer, asked, number, address));
            }
            long quietNs = System.nanoTime() + QUIET_NS;
            Side.drive(other, owner, () -> stranger.isFree && System.nanoTime() - quietNs > 0);
            assertEquals(0, peers(owner), "strangers are among the peers");
            AttachedMemory attached = attach(member, owner, descriptor);
            putAndCheck(member, owner, attached, memory, 77);
            attached.close();
            Side.drive(member, owner, () -> peers(owner) == 0 && peers(member) == 0);
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, 300", "tcp;ofi_rxm, 20", "net, 20"})
    void shouldForgetPeersThatHaveDetached(String provider, int sides) {
        String session = "many-" + System.nanoTime();
        Side owner = new Side(Fabrics.driver(provider, ""), session, 1, SECRET);
        try (owner) {
            MemorySegment memory = owner.arenas.lasting().allocateShared(4096);
            byte[] descriptor = export(owner, memory).descriptor();
            for (int i = 0; i < sides; i++) {
                try (Side side = new Side(Fabrics.driver(provider, ""), session, 2 + i, SECRET)) {
                    int times = ATTACHMENTS * (i + 1) / sides - ATTACHMENTS * i / sides;
                    for (int k = 0; k < times; k++) {
                        AttachedMemory attached = attach(side, owner, descriptor);
                        putAndCheck(side, owner, attached, memory, 1000L * i + k);
                        attached.close();
                    }
                    Side.drive(side, owner, () -> peers(side) == 0 && peers(owner) == 0);
                }
            }
        }
    }
}
