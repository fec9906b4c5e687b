package io.madeleine.tm.sci;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;

/** A process that exports memory, or works on that of the test, until it is killed or has done its work. */
final class RemoteProcess implements RemoteCompletion, ConnectionListener {
    /** What it does. */
    enum Role {
        /** Exports memory. */
        OWNS,

        /** Puts without end. */
        PUTS,

        /** Counts in the first word, sets the second to what the third is, and leaves. */
        COUNTS
    }

    static final String CHANNEL = "remote";
    static final int BYTES = 16 << 20;
    static final int COUNT = 20_000;

    private long value;

    /** {@code DIRECTORY ID PEER-ID PEER-ADDRESS ROLE}; prints its address, and reads a descriptor or prints one. */
    static void main(String[] arguments) throws IOException {
        Role role = Role.valueOf(arguments[4]);
        RemoteProcess self = new RemoteProcess();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Side side = Side.open(Path.of(arguments[0]), Long.parseLong(arguments[1]))) {
            System.out.println(side.adapter.address());
            CompletableFuture<ProtocolConnection> made = side.adapter
                    .openChannel(CHANNEL)
                    .connect(side.request(Long.parseLong(arguments[2]), arguments[3], false));
            while (!made.isDone()) {
                side.round();
            }
            made.join().start(self);
            RemoteMemory remote = side.adapter.remoteMemory().orElseThrow();
            if (role == Role.OWNS) {
                MemorySegment memory = side.arenas.newArena().allocateShared(BYTES);
                System.out.println(HexFormat.of()
                        .formatHex(remote.export(memory, RemoteMemory.Access.READ_WRITE)
                                .descriptor()));
                while (input.readLine() != null) {
                    System.out.println(memory.get(ValueLayout.JAVA_LONG, 0));
                }
                return;
            }
            try (AttachedMemory attached = remote.attach(HexFormat.of().parseHex(input.readLine()))) {
                System.out.println("attached");
                if (role == Role.PUTS) {
                    self.put(attached);
                } else {
                    self.count(attached);
                }
            }
        }
        System.out.println("done");
    }

    private void put(AttachedMemory attached) {
        MemorySegment source = Arena.ofAuto().allocate(BYTES);
        for (byte fill = 1; ; fill++) {
            attached.put(source.fill(fill), 0, 0, BYTES, this);
        }
    }

    private void count(AttachedMemory attached) {
        for (int n = 0; n < COUNT; n++) {
            attached.fetchAdd(0, Long.BYTES, 1, this);
        }
        MemorySegment word = MemorySegment.ofArray(new long[1]);
        attached.get(16, word, 0, Long.BYTES, this);
        attached.put(word, 0, 8, Long.BYTES, this);
        attached.compareAndSet(24, Integer.BYTES, 0, 1, this);
        if (value != 5) {
            throw new AssertionError("expected 5, found " + value);
        }
    }

    @Override
    public void completed(long before) {
        value = before;
    }

    @Override
    public void failed(RemoteMemoryException failure) {
        throw failure;
    }

    @Override
    public int onReadable() {
        return 0;
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String reason) {
        // the test kills this process, or ends it
    }
}
