package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.nexus.AttachException;
import io.madeleine.nexus.AttachPoint;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.RemoteService;
import io.madeleine.nexus.Startpoint;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Separately started programs, each a session of its own, whose contexts attach to each other. */
@Tag("waits")
class AttachIT {
    private static final String SECRET = "session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d";
    private static final long NOTICE_MS = 5_000;

    /** Called. */
    @RemoteService
    public interface Desk {
        /** Answers at once. */
        int next(int number);

        /** Never answers. */
        CompletableFuture<Integer> never();

        /** Ends the process. */
        void stop();
    }

    private static Desk desk(CountDownLatch stopped) {
        return new Desk() {
            @Override
            public void stop() {
                stopped.countDown();
            }

            @Override
            public int next(int number) {
                return number + 1;
            }

            @Override
            public CompletableFuture<Integer> never() {
                return new CompletableFuture<>();
            }
        };
    }

    /** Two processes that are joined by shared memory; each lets others attach, but not to "private". */
    static final class Servers {
        public static void main(String[] args) throws Exception {
            CountDownLatch stopped = new CountDownLatch(1);
            try (Session session = Session.open();
                    Context context = Context.open(session, here -> here.export(Desk.class, desk(stopped)));
                    AttachPoint point = context.allowAttach(
                            new InetSocketAddress("127.0.0.1", 0),
                            List.of("127.0.0.1"),
                            request -> request.path().equals("private")
                                    ? Optional.empty()
                                    : Optional.of(Startpoint.toAll(
                                            context.startpoint(context.rank(), Desk.class.getName()),
                                            context.startpoint(1 - context.rank(), Desk.class.getName()))))) {
                context.barrier(Duration.ofSeconds(20)); // both know where both listen
                System.out.println("url " + point.url());
                System.out.println("neighbour by "
                        + context.startpoint(1 - context.rank(), "x").method().orElseThrow());
                boolean _ = stopped.await(60, TimeUnit.SECONDS);
            }
        }
    }

    /** Attaches to the first server, calls both, and goes on when one has died. */
    static final class Client {
        public static void main(String[] args) {
            try (Session session = Session.open();
                    Context context = Context.open(session)) {
                try {
                    context.attach(args[0] + "/private");
                } catch (AttachException e) {
                    System.out.println("private: " + e.getMessage());
                }
                Startpoint both = context.attach(args[0]);
                Desk first = both.links().get(0).service(Desk.class);
                Desk second = both.links().get(1).service(Desk.class);
                System.out.println("answers " + first.next(1) + " " + second.next(2));
                System.out.println("second by " + context.methodsOf(both.ranks().get(1)));
                CompletableFuture<Integer> open = first.never();
                System.out.println("ready");
                try {
                    open.join();
                } catch (CompletionException e) {
                    System.out.println("failed " + System.currentTimeMillis() + " "
                            + (e.getCause() instanceof PeerFailedException));
                }
                try {
                    first.next(1);
                } catch (PeerFailedException e) {
                    System.out.println("unreachable: " + e.getMessage());
                }
                System.out.println("the other answers " + second.next(41));
                second.stop();
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldJoinProgramsAndSurviveTheDeathOfOneOfThem() throws Exception {
        try (Processes servers =
                        Ranks.of(2, Servers.class).over("sci").with(SECRET).start();
                Processes client = Ranks.of(1, Client.class)
                        .arguments(servers.awaitLine(0, "url "))
                        .with(SECRET)
                        .start()) {
            assertTrue(servers.awaitLine(0, "neighbour by ").startsWith("mad/sci"), servers::toString);
            client.awaitLine(0, "ready");
            assertTrue(client.out(0).lines().contains("answers 2 3"), client::toString);
            assertTrue(client.out(0).linesAfter("private: ").getFirst().contains("refused"), client::toString);
            String methods = client.out(0).linesAfter("second by ").getFirst();
            assertTrue(methods.contains("NOT_APPLICABLE") && methods.contains("IN_USE"), methods);
            long killedMs = servers.kill(0);
            String[] failed = client.awaitLine(0, "failed ").split(" ");
            assertTrue(Long.parseLong(failed[0]) - killedMs < NOTICE_MS, client::toString);
            assertEquals("true", failed[1]);
            String why = client.awaitLine(0, "unreachable: ");
            assertTrue(why.contains("mad (channel default)") && why.contains("nexus://127.0.0.1:"), why);
            assertEquals("42", client.awaitLine(0, "the other answers "));
            client.awaitAll();
            assertEquals(0, client.exitCode(), client::toString);
            servers.awaitAll(); // the other one has been told
        }
    }

    /** A process alone that lets anybody attach who knows the secret. */
    static final class Alone {
        public static void main(String[] args) throws Exception {
            try (Session session = Session.open();
                    Context context = Context.open(session);
                    AttachPoint point = context.allowAttach(
                            0, _ -> Optional.of(context.endpoint().startpoint()))) {
                System.out.println("url nexus://127.0.0.1:" + point.port());
                Thread.sleep(60_000);
            }
        }
    }

    /** Says why it cannot attach. */
    static final class Stranger {
        public static void main(String[] args) {
            try (Session session = Session.open();
                    Context context = Context.open(session)) {
                context.attach(args[0]);
                System.out.println("attached");
            } catch (AttachException | ConfigurationException e) {
                System.out.println(e.getClass().getSimpleName() + " " + e.getMessage());
            }
        }
    }

    @Test
    void shouldKeepOutWhoDoesNotKnowTheSecret() throws Exception {
        try (Processes server = Ranks.of(1, Alone.class).with(SECRET).start()) {
            String url = server.awaitLine(0, "url ");
            try (Processes wrong = Ranks.of(1, Stranger.class)
                            .arguments(url)
                            .with("session.secret=0b1d97c2e6f84a53a2c0de7419b58f36")
                            .start();
                    Processes none = Ranks.of(1, Stranger.class).arguments(url).start()) {
                for (Processes stranger : List.of(wrong, none)) {
                    stranger.awaitAll();
                    String said = stranger.out(0).lines().getFirst();
                    assertTrue(said.contains("madeleine.session.secret"), said);
                }
            }
        }
    }
}
