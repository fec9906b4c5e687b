package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.AttachPoint;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.Idempotent;
import io.madeleine.nexus.MethodStatus;
import io.madeleine.nexus.RemoteService;
import io.madeleine.nexus.Startpoint;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two network namespaces stand for two hosts with two links between them: requests go over the session's network by
 * one, which is cut, and go on over the wide area by the other. Skipped where namespaces are not allowed.
 */
@Tag("waits")
class FallbackIT {
    private static final long PEER_TIMEOUT_MS = 2_000;
    private static final long SLACK_MS = 2_000;
    private static final int BEFORE = 500;
    private static final int AFTER = 500;

    private TwoHosts hosts;

    @BeforeEach
    void makeHosts() throws InterruptedException {
        hosts = new TwoHosts("nex");
    }

    @AfterEach
    void removeHosts() {
        if (hosts != null) {
            hosts.close();
        }
    }

    /** What rank 1 offers: it remembers what was entered. */
    @RemoteService
    public interface Ledger {
        /** Enters a number, once. */
        int enter(int number);

        /** How often a number was entered, by a call. */
        @Idempotent
        int timesEntered(int number);

        /** Never answers: a call that is under way whenever the network is cut. */
        CompletableFuture<Integer> hold();

        /**
         * Of the numbers from that one on that were noted by requests: how many, and how many twice or out of order.
         */
        List<Integer> notedFrom(int first);
    }

    private static final class Book implements Ledger {
        private final ConcurrentHashMap<Integer, Integer> entered = new ConcurrentHashMap<>();
        private final List<Integer> noted = new ArrayList<>();

        @Override
        public int enter(int number) {
            entered.merge(number, 1, Integer::sum);
            return number;
        }

        @Override
        public int timesEntered(int number) {
            return entered.getOrDefault(number, 0);
        }

        @Override
        public CompletableFuture<Integer> hold() {
            return new CompletableFuture<>();
        }

        synchronized void note(int number) {
            noted.add(number);
        }

        @Override
        public synchronized List<Integer> notedFrom(int first) {
            int count = 0;
            int misplaced = 0;
            int before = -1;
            for (int number : noted) {
                if (number >= first) {
                    count++;
                    misplaced += number <= before ? 1 : 0;
                    before = number;
                }
            }
            return List.of(count, misplaced);
        }
    }

    @Test
    void shouldGoOnOverTheWideAreaWhenTheSessionsNetworkIsCut() throws Exception {
        List<String> wide = hosts.addLink();
        try (Processes processes = Ranks.of(2, Program.class)
                .arguments(hosts.address(0), hosts.address(1), wide.get(0), wide.get(1))
                .hosts(hosts.addresses(7313))
                .with("session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d", "peer-timeout=" + PEER_TIMEOUT_MS + "ms")
                .over("tcp")
                .prefixed(hosts::prefix)
                .start()) {
            for (String user : List.of("calls", "questions", "notes")) {
                assertEquals("mad/tcp", processes.awaitLine(0, user + " by "), processes::toString);
            }
            long cutMs = System.currentTimeMillis();
            assertTrue(hosts.cut());
            processes.awaitLine(0, "over");
            List<String> failed = processes.out(0).linesAfter("failed ");
            assertTrue(
                    failed.stream().anyMatch(line -> line.startsWith("held ")),
                    () -> "what was under way was not reported\n" + processes);
            for (String line : failed) { // "USER MILLISECONDS WHY"
                String[] words = line.split(" ", 3);
                long afterMs = Long.parseLong(words[1]) - cutMs;
                assertTrue(afterMs > 0 && afterMs <= PEER_TIMEOUT_MS + SLACK_MS, () -> afterMs + " ms\n" + processes);
                assertTrue(!words[0].equals("questions"), () -> "they may be asked again\n" + processes);
                assertTrue(words[2].contains("madeleine.peer-timeout"), processes::toString);
            }
            assertTrue(result(processes, "calls: ").endsWith(" made, 0 wrong"), processes::toString);
            assertTrue(
                    result(processes, "notes: ").endsWith(" made, " + AFTER + " after the fall, 0 misplaced"),
                    processes::toString);
            String methods = result(processes, "methods: ");
            assertTrue(
                    methods.matches(".*mad/tcp.*FAILED.*madeleine.peer-timeout.*wan.*10\\.213\\.78\\.2.*IN_USE.*"),
                    methods);
            processes.awaitAll();
            assertEquals(0, processes.exitCode(), processes::toString);
        }
    }

    private static String result(Processes processes, String word) {
        List<String> lines = processes.out(0).linesAfter(word);
        assertEquals(1, lines.size(), processes::toString);
        return lines.getFirst();
    }

    /**
     * Rank 0 uses the ledger of rank 1 in three ways at once, until each way has gone on for a while over the wide
     * area.
     */
    static final class Program {
        private static final Duration PATIENCE = Duration.ofSeconds(20);

        public static void main(String[] args) throws Exception {
            Book book = new Book();
            CountDownLatch over = new CountDownLatch(1);
            int self = Integer.getInteger("madeleine.session.rank");
            String near = args[args.length - 4 + self]; // not the wide area's link
            try (Session session = Session.open("tm.tcp.adapters.default.bind=" + near);
                    Context context = Context.open(session, here -> {
                        here.export(Ledger.class, book);
                        here.endpoint("notes")
                                .nonThreaded("note", (_, request) -> book.note(request.getInt()))
                                .threaded("over", (_, _) -> over.countDown());
                    })) {
                String wide = args[args.length - 2 + session.rank()];
                try (AttachPoint _ =
                        context.allowAttach(new InetSocketAddress(wide, 0), List.of(wide), _ -> Optional.empty())) {
                    context.barrier(PATIENCE);
                    if (session.rank() == 0) {
                        use(context);
                        context.startpoint(1, "notes").rsr("over", new Arguments());
                    } else if (!over.await(40, SECONDS)) {
                        throw new IllegalStateException("nobody said that it is over");
                    }
                }
            }
            say("over");
        }

        private static void use(Context context) throws InterruptedException {
            Startpoint notes = context.startpoint(1, "notes");
            Ledger ledger = context.service(1, Ledger.class);
            CompletableFuture<Void> held = ledger.hold().handle((_, e) -> {
                say("failed held " + System.currentTimeMillis() + " " + e.getMessage());
                return null;
            });
            Set<Integer> answered = new HashSet<>();
            int[] last = new int[2];
            List<Thread> users = List.of(
                    user("calls", notes, number -> {
                        last[0] = number;
                        answered.add(ledger.enter(number));
                    }),
                    user("questions", notes, ledger::timesEntered),
                    user("notes", notes, number -> {
                        last[1] = number;
                        notes.rsr("note", new Arguments().putInt(number).putBytes(new byte[500]));
                    }));
            for (Thread user : users) {
                user.join();
            }
            held.orTimeout(10, SECONDS).join();
            int wrong = 0;
            for (int number = 0; number <= last[0]; number++) {
                int times = ledger.timesEntered(number);
                wrong += times > 1 || (times == 0 && answered.contains(number)) ? 1 : 0;
            }
            say("calls: " + last[0] + " made, " + wrong + " wrong");
            say("methods: " + notes.methods());
            int unbroken = last[1] - AFTER + 1;
            context.await(() -> ledger.notedFrom(unbroken).getFirst() == AFTER, 10, SECONDS);
            say("notes: " + last[1] + " made, " + ledger.notedFrom(unbroken).getFirst() + " after the fall, "
                    + ledger.notedFrom(0).get(1) + " misplaced");
        }

        /**
         * A thread that does something again and again, until it has done so for a while after the first method was
         * lost.
         */
        private static Thread user(String name, Startpoint target, IntConsumer action) {
            return Thread.ofPlatform().start(() -> {
                int after = 0;
                for (int number = 0; after < AFTER; number++) {
                    boolean fallen = isByWan(target);
                    try {
                        action.accept(number);
                        after += fallen ? 1 : 0;
                    } catch (PeerFailedException e) {
                        say("failed " + name + " " + System.currentTimeMillis() + " " + e.getMessage());
                    }
                    if (number == BEFORE) {
                        say(name + " by " + target.method().orElseThrow().name());
                    }
                    LockSupport.parkNanos(200_000);
                }
            });
        }

        private static boolean isByWan(Startpoint target) {
            return target.method().map(MethodStatus::name).orElse("none").equals("wan");
        }

        private static synchronized void say(String line) {
            System.out.println(line);
        }
    }
}
