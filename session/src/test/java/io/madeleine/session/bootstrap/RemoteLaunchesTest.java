package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Proofs;
import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a process makes of its launcher's answers; the test is the launcher. */
@Timeout(30)
class RemoteLaunchesTest {
    private static final LaunchSpec SPEC = new LaunchSpec(2, List.of("java"), Map.of());

    private final RemoteLaunches launches = new RemoteLaunches();
    private ControlConnection ours;
    private ControlConnection launchers;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket socket = new Socket(listening.getInetAddress(), listening.getLocalPort());
            byte[] key = new byte[Proofs.BYTES];
            ours = new ControlConnection(socket, key, key);
            launchers = new ControlConnection(listening.accept(), key, key);
        }
    }

    @AfterEach
    void close() {
        ours.close();
        launchers.close();
    }

    private CompletableFuture<List<LaunchedProcess>> launch() {
        CompletableFuture<List<LaunchedProcess>> result = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                result.complete(launches.launch(SPEC, ours));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private ControlMessage.Launch asked() throws IOException {
        return assertInstanceOf(ControlMessage.Launch.class, launchers.receive().orElseThrow());
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(ExecutionException.class, () -> future.get(20, TimeUnit.SECONDS))
                .getCause();
    }

    @Test
    void shouldTellTheProcessesAndTheirEnds() throws Exception {
        CompletableFuture<List<LaunchedProcess>> first = launch();
        ControlMessage.Launch one = asked();
        assertEquals(SPEC, LaunchSpec.decode(one.spec()));
        CompletableFuture<List<LaunchedProcess>> second = launch();
        ControlMessage.Launch two = asked();
        assertEquals(one.id() + 1, two.id());
        launches.launched(new ControlMessage.Launched(two.id(), new long[] {}, "there is no java"));
        SessionException why = assertInstanceOf(SessionException.class, failureOf(second));
        assertTrue(why.getMessage().contains("there is no java"), why::getMessage);
        launches.launched(new ControlMessage.Launched(one.id(), new long[] {11, 12}, ""));
        List<LaunchedProcess> processes = first.get(20, TimeUnit.SECONDS);
        assertEquals(
                "0 11 1 12",
                processes.get(0).rank() + " " + processes.get(0).pid() + " "
                        + processes.get(1).rank() + " " + processes.get(1).pid());

        launches.ended(new ControlMessage.LaunchedEnded(one.id(), 1, 7));
        assertEquals(7, processes.get(1).exit().get(20, TimeUnit.SECONDS));
        assertFalse(processes.get(0).exit().isDone());
        for (int rank : new int[] {-1, 2}) {
            ControlMessage.LaunchedEnded wrong = new ControlMessage.LaunchedEnded(one.id(), rank, 0);
            assertThrows(IOException.class, () -> launches.ended(wrong), "rank " + rank);
        }
        launches.lost("it was killed");
        SessionException unknown = assertInstanceOf(
                SessionException.class, failureOf(processes.get(0).exit()));
        assertTrue(unknown.getMessage().contains("the launcher is gone: it was killed"), unknown::getMessage);
        assertEquals(7, processes.get(1).exit().get(), "its end was known");
    }

    @Test
    void shouldRefuseAnswersToRequestsThatWereNotMade() throws Exception {
        for (int round = 0; round < 2; round++) {
            for (long id : new long[] {0, -1, round + 1}) {
                assertThrows(
                        IOException.class,
                        () -> launches.launched(new ControlMessage.Launched(id, new long[] {}, "")),
                        "id " + id);
                assertThrows(
                        IOException.class,
                        () -> launches.ended(new ControlMessage.LaunchedEnded(id, 0, 0)),
                        "id " + id);
            }
            CompletableFuture<List<LaunchedProcess>> made = launch();
            launches.launched(new ControlMessage.Launched(asked().id(), new long[] {5, 6}, ""));
            assertEquals(2, made.get(20, TimeUnit.SECONDS).size());
        }
    }

    /** When all processes of a request have ended, the request is forgotten: its answers change nothing any more. */
    @Test
    void shouldForgetARequestWhoseProcessesHaveAllEnded() throws Exception {
        CompletableFuture<List<LaunchedProcess>> made = launch();
        long id = asked().id();
        launches.launched(new ControlMessage.Launched(id, new long[] {5, 6}, ""));
        List<LaunchedProcess> processes = made.get(20, TimeUnit.SECONDS);
        for (LaunchedProcess process : processes) {
            launches.ended(new ControlMessage.LaunchedEnded(id, process.rank(), 0));
            assertEquals(0, process.exit().get(20, TimeUnit.SECONDS));
        }
        ControlMessage.LaunchedEnded wrong = new ControlMessage.LaunchedEnded(id, 9, 0);
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (true) { // it is forgotten just after the last end is told
            try {
                launches.ended(wrong);
                break;
            } catch (IOException e) {
                assertTrue(System.nanoTime() - giveUpNs < 0, "it is not forgotten");
                Thread.sleep(1);
            }
        }
        launches.launched(new ControlMessage.Launched(id, new long[] {7}, ""));
    }

    @Test
    void shouldSayThatALaunchIsNotWantedIfTheWaitForItIsInterrupted() throws Exception {
        CompletableFuture<Boolean> staysInterrupted = new CompletableFuture<>();
        Thread waiting = Thread.ofVirtual().start(() -> {
            try {
                launches.launch(SPEC, ours);
                staysInterrupted.completeExceptionally(new AssertionError("it was not interrupted"));
            } catch (WaitInterruptedException _) {
                staysInterrupted.complete(Thread.currentThread().isInterrupted());
            }
        });
        long id = asked().id();
        waiting.interrupt();
        assertTrue(staysInterrupted.get(20, TimeUnit.SECONDS));
        assertEquals(new ControlMessage.LaunchGivenUp(id), launchers.receive().orElseThrow());
        launches.launched(new ControlMessage.Launched(id, new long[] {5, 6}, "")); // too late, and no error
        launches.ended(new ControlMessage.LaunchedEnded(id, 9, 0));
    }

    @Test
    void shouldFailRequestsWhenTheLauncherIsGone() throws Exception {
        CompletableFuture<List<LaunchedProcess>> open = launch();
        asked();
        launches.lost("it was killed");
        assertTrue(failureOf(open).getMessage().contains("the launcher is gone: it was killed"));
        SessionException later = assertThrows(SessionException.class, () -> launches.launch(SPEC, ours));
        assertEquals("the launch request cannot be sent to the launcher: it was killed", later.getMessage());
    }
}
