package io.madeleine.session.bootstrap;

import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The launch requests that this process has sent to its launcher.
 *
 * <p>Threading: thread-safe.
 */
final class RemoteLaunches {
    private static final long ANSWER_S = 60;

    /** The requests that are not answered, or whose processes have not all ended. */
    private final Map<Long, CompletableFuture<List<LaunchedProcess>>> requests = new ConcurrentHashMap<>();

    private final AtomicLong ids = new AtomicLong();
    private volatile String lost = "";

    /**
     * Sends a request and waits for the answer, at most {@value #ANSWER_S} s. If none comes, or the wait is
     * interrupted, it has the launcher end what it may still start.
     */
    List<LaunchedProcess> launch(LaunchSpec spec, ControlConnection connection) {
        long id = ids.incrementAndGet();
        CompletableFuture<List<LaunchedProcess>> answer = new CompletableFuture<>();
        requests.put(id, answer);
        boolean launched = false;
        try {
            if (!lost.isEmpty()) { // a loss from here on fails the answer
                throw new IOException(lost);
            }
            connection.send(new ControlMessage.Launch(id, spec.encode()));
            List<LaunchedProcess> processes = answer.get(ANSWER_S, TimeUnit.SECONDS);
            launched = true;
            return processes;
        } catch (IOException e) {
            throw new SessionException("the launch request cannot be sent to the launcher: " + e.getMessage(), e);
        } catch (TimeoutException e) {
            connection.trySend(new ControlMessage.LaunchGivenUp(id));
            throw new SessionException("the launcher has not answered the launch request within " + ANSWER_S + " s", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            throw new SessionException(cause == null ? e.toString() : String.valueOf(cause.getMessage()), e);
        } catch (InterruptedException e) {
            connection.trySend(new ControlMessage.LaunchGivenUp(id));
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while processes were launched", e);
        } finally {
            if (!launched) {
                requests.remove(id);
            }
        }
    }

    /** The launcher has answered a request. */
    void launched(ControlMessage.Launched message) throws IOException {
        CompletableFuture<List<LaunchedProcess>> answer = request(message.id());
        if (answer == null) {
            return;
        }
        if (!message.failure().isEmpty()) {
            beside(() -> answer.completeExceptionally(new SessionException(message.failure())));
            return;
        }
        List<LaunchedProcess> processes = new ArrayList<>();
        for (long pid : message.pids()) {
            processes.add(new LaunchedProcess(processes.size(), pid, new CompletableFuture<>()));
        }
        answer.complete(List.copyOf(processes));
    }

    /** A launched process has ended. */
    void ended(ControlMessage.LaunchedEnded message) throws IOException {
        CompletableFuture<List<LaunchedProcess>> answer = request(message.id());
        if (answer == null) {
            return;
        }
        List<LaunchedProcess> processes = answer.getNow(List.of());
        if (message.rank() < 0 || message.rank() >= processes.size()) {
            throw new IOException("it reported the end of a process that it did not launch");
        }
        beside(() -> {
            processes.get(message.rank()).exit().complete(message.code());
            if (processes.stream().allMatch(one -> one.exit().isDone())) {
                requests.remove(message.id());
            }
        });
    }

    /**
     * The control connection is lost: fails all open requests and the exits of all processes that are not known to have
     * ended.
     */
    void lost(String reason) {
        lost = reason;
        beside(() -> requests.values().forEach(request -> {
            SessionException failure =
                    new SessionException("the state of launched processes is unknown, the launcher is gone: " + reason);
            if (!request.completeExceptionally(failure) && !request.isCompletedExceptionally()) {
                request.join().forEach(process -> process.exit().completeExceptionally(failure));
            }
        }));
    }

    /** The request with this number; null if it was given up or is over. */
    private @Nullable CompletableFuture<List<LaunchedProcess>> request(long id) throws IOException {
        if (id < 1 || id > ids.get()) {
            throw new IOException("it answered a launch request that this process did not send");
        }
        return requests.get(id);
    }

    /**
     * Completes futures in a thread of its own, since the user's actions on them must not block the reader of the
     * control connection.
     */
    private static void beside(Runnable notification) {
        Thread.ofVirtual().name("madeleine-launched").start(notification);
    }
}
