package io.madeleine.tm.via.ffi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A program that uses the signals of the JVM while endpoints are open: null checks and stack overflows in compiled
 * code. Then a new endpoint sends to the first one. It prints "received" at the end.
 */
final class SignalProgram {
    private static final int TIMES = 200_000;
    private static final int OVERFLOWS = 20;
    private static final long PATIENCE_NS = 10_000_000_000L;

    private static int deepest;

    private SignalProgram() {}

    private static final class Box {
        int value = 1;
    }

    private static Fabric open(Optional<String> file, String provider, String source) {
        FabricLibrary library = FabricLibrary.load(file);
        FabricInfo info = FabricInfo.find(
                        library, new FabricInfo.Query(Optional.of(provider), Optional.empty(), Optional.of(source)))
                .getFirst();
        return new Fabric(info, 1024, false);
    }

    public static void main(String[] arguments) {
        String provider = arguments[0];
        boolean isShared = provider.equals("shm");
        String name = isShared ? "madeleine-signals-" + ProcessHandle.current().pid() : "127.0.0.1";
        Optional<String> file = arguments.length > 1 ? Optional.of(arguments[1]) : Optional.empty();
        Fabric first = open(file, provider, name);
        System.out.println("null checks: " + nullChecks());
        System.out.println("overflows: " + overflows());
        if (isShared) {
            System.out.println("file: " + hasFile(name));
        }
        Fabric second = open(file, provider, isShared ? name + "-second" : name);
        System.out.println(sendBetween(second, first) ? "received" : "nothing came");
        second.close();
        first.close();
    }

    /** Whether the endpoint's file is there, without which no other process can connect. */
    private static boolean hasFile(String name) {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.anyMatch(file -> file.getFileName().toString().startsWith(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The JVM finds null references by SIGSEGV once this is compiled. */
    private static int nullChecks() {
        int thrown = 0;
        Box box = new Box();
        for (int i = 0; i < TIMES; i++) {
            try {
                thrown += valueOf(i % 1000 == 999 ? null : box) - 1;
            } catch (NullPointerException _) {
                thrown++;
            }
        }
        return thrown;
    }

    @SuppressWarnings("NullAway")
    private static int valueOf(Box box) {
        return box.value;
    }

    private static int overflows() {
        int thrown = 0;
        for (int i = 0; i < OVERFLOWS; i++) {
            try {
                dive(0);
            } catch (StackOverflowError _) {
                thrown++;
            }
        }
        return thrown;
    }

    @SuppressWarnings("InfiniteRecursion")
    private static int dive(int depth) {
        deepest = Math.max(deepest, depth);
        return dive(depth + 1) + 1;
    }

    private static boolean sendBetween(Fabric from, Fabric to) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(64, 64);
            MemorySegment source = arena.allocate(64, 64).fill((byte) 7);
            long peer = from.addresses().insert(to.name());
            long posted = to.operations().receive(target.address(), 64, 0, 1);
            long startNs = System.nanoTime();
            boolean sent = false;
            while (posted == 0 && System.nanoTime() - startNs < PATIENCE_NS) {
                sent = sent || from.operations().send(source.address(), 64, 0, peer, 2) == 0;
                int _ = from.completions().read();
                if (to.completions().read() > 0) {
                    return target.get(ValueLayout.JAVA_BYTE, 63) == 7;
                }
            }
            return false;
        }
    }
}
