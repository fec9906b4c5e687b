package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All virtual threads share one carrier, in a process of its own: none of them is kept from it by the session's. */
@Timeout(value = 100, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OneCarrierTest {
    private static final long PATIENCE_S = 30;
    private static final long LONGEST_START_S = 5;
    private static final int STARTS = 200;

    /** What the process does: ends well if each virtual thread that the main thread starts is run. */
    static final class Program {
        private final SelectorReactor reactor = new SelectorReactor();
        private final ProgressEngine engine =
                new ProgressEngine("one", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 200_000, 5));
        private final FakeNetwork network = new FakeNetwork(reactor);
        private final Waitable news = new Waitable();
        private final AtomicInteger received = new AtomicInteger();
        private final AtomicInteger virtually = new AtomicInteger();
        private volatile boolean stop;

        public static void main(String[] args) throws Exception {
            new Program().run(args[0].equals("busy"));
            System.exit(0);
        }

        private void run(boolean busy) throws Exception {
            network.listener = () -> {
                if (Thread.currentThread().isVirtual()) {
                    virtually.incrementAndGet();
                }
                received.incrementAndGet();
                engine.signal(news);
            };
            engine.addSource(network);
            CompletableFuture<Void> chat = CompletableFuture.runAsync(
                    () -> chat(busy), task -> Thread.ofVirtual().start(task));
            while (virtually.get() == 0) {
                Thread.sleep(1);
            }
            for (int i = 0; i < STARTS; i++) {
                CompletableFuture<Void> isRun = new CompletableFuture<>();
                Runnable start = () -> Thread.ofVirtual().start(() -> isRun.complete(null));
                Thread.ofPlatform().start(start); // a new one: which queue it submits to depends on that
                isRun.get(LONGEST_START_S, TimeUnit.SECONDS);
            }
            stop = true;
            if (busy) {
                network.busy = false;
                network.send();
            }
            chat.get(PATIENCE_S, TimeUnit.SECONDS);
        }

        /**
         * Sends and waits in turns; or has the network busy as soon as a virtual thread leads, and waits for it to end.
         */
        private void chat(boolean busy) {
            while (!stop && !network.busy) {
                int count = received.get() + 1;
                if (busy && virtually.get() > 0) {
                    network.busy = true;
                } else {
                    network.send();
                }
                assertTrue(engine.await(news, () -> received.get() >= count, ProgressEngine.NO_DEADLINE));
            }
        }
    }

    @TempDir
    private Path directory;

    private void runWithOneCarrier(String traffic) throws Exception {
        Path said = directory.resolve("said");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djdk.virtualThreadScheduler.parallelism=1",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        traffic)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), "the process never ends");
            assertEquals(0, process.exitValue(), () -> text(said));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    @Test
    void shouldRunWhatOthersStartWhileVirtualThreadsSendAndWaitInTurns() throws Exception {
        runWithOneCarrier("chat");
    }

    @Test
    void shouldRunWhatOthersStartWhileTheNetworkIsBusy() throws Exception {
        runWithOneCarrier("busy");
    }
}
