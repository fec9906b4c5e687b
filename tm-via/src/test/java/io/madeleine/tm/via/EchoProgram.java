package io.madeleine.tm.via;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A process that sends back each packet of the last link. It prints its adapter's address, reads that of its peer, and
 * prints "ready" when it is connected.
 *
 * <p>Arguments: the provider, the session, whether the last link is via/registered.
 */
final class EchoProgram {
    static final long ID = 2;
    static final long PEER_ID = 1;
    static final int MAX_BYTES = 1 << 21;

    private EchoProgram() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Side side = new Side(Fabrics.driver(arguments[0], Boolean.parseBoolean(arguments[2])), arguments[1], ID)) {
            System.out.println(side.adapter.address());
            var connecting = side.connect(new ProcessIdentity(PEER_ID, 0), in.readLine(), "echo", false);
            while (!connecting.isDone()) {
                side.poll();
            }
            side.use(connecting.join());
            System.out.println("ready");
            MemorySegment block = side.arenas.lasting().allocate(MAX_BYTES, 8);
            while (side.loss.isEmpty()) {
                echo(side, block);
            }
        }
    }

    private static void echo(Side side, MemorySegment block) {
        TransmissionLink link = side.connection().links().getLast();
        side.poll();
        long header = link.front();
        if (header > 0) {
            receive(side, link, header, block);
            send(side, link, header, block);
        }
    }

    static void receive(Side side, TransmissionLink link, long header, MemorySegment block) {
        BufferGroup group = new BufferGroup();
        group.add(block, 0, PacketHeader.payloadBytes(header));
        while (!group.isEmpty() && side.loss.isEmpty()) {
            if (link.receive(group, group.remainingBytes()) == 0) {
                side.poll();
            }
        }
        link.release();
    }

    static void send(Side side, TransmissionLink link, long header, MemorySegment block) {
        BufferGroup group = new BufferGroup();
        group.add(block, 0, PacketHeader.payloadBytes(header));
        while (((DynamicLink) link).send(header, group, 0) == LinkStatus.PENDING) {
            side.poll();
        }
    }
}
