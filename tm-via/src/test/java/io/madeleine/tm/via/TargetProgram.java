package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.RemoteMemory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * A process that exports memory, prints its descriptor, and takes no part in operations except that its adapter is
 * polled. For each line that it reads it prints the sum of the memory's words.
 *
 * <p>Arguments: the provider, the session.
 */
final class TargetProgram {
    static final long ID = 2;
    static final int BYTES = 1 << 20;

    private TargetProgram() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Side side = new Side(Fabrics.driver(arguments[0], ""), arguments[1], ID)) {
            MemorySegment memory = side.arenas.lasting().allocateShared(BYTES);
            ExportedMemory export =
                    side.adapter.remoteMemory().orElseThrow().export(memory, RemoteMemory.Access.READ_WRITE);
            System.out.println(HexFormat.of().formatHex(export.descriptor()));
            while (true) {
                side.poll();
                if (in.ready()) {
                    String _ = in.readLine();
                    System.out.println(sum(memory));
                }
            }
        }
    }

    static long sum(MemorySegment memory) {
        long sum = 0;
        for (long at = 0; at < BYTES; at += Long.BYTES) {
            sum += memory.get(ValueLayout.JAVA_LONG, at);
        }
        return sum;
    }
}
