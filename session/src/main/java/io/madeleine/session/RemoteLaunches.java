package io.madeleine.session;

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

/**
 * What a process has asked its launcher to start.
 *
 * <p>Threading: thread-safe.
 */
final class RemoteLaunches {
    private static final long ANSWER_S = 60;

    private final Map<Long, CompletableFuture<List<LaunchedProcess>>> requests = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private volatile String lost = "";

    /** Asks, and waits for the answer. */
    List<LaunchedProcess> launch(LaunchSpec spec, ControlConnection connection) {
        long id = ids.incrementAndGet();
        CompletableFuture<List<LaunchedProcess>> answer = new CompletableFuture<>();
        requests.put(id, answer);
        try {
            connection.send(new ControlMessage.Launch(id, spec.encode()));
            if (!lost.isEmpty()) {
                throw new IOException(lost);
            }
            return answer.get(ANSWER_S, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new SessionException("the launcher cannot be asked to launch processes: " + e.getMessage(), e);
        } catch (TimeoutException e) {
            throw new SessionException("the launcher has not launched processes within " + ANSWER_S + " s", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            throw new SessionException(cause == null ? e.toString() : String.valueOf(cause.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while processes were launched", e);
        }
    }

    /** The launcher's answer. */
    void launched(ControlMessage.Launched message) throws IOException {
        CompletableFuture<List<LaunchedProcess>> answer = request(message.id());
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

    /** One of them has ended. */
    void ended(ControlMessage.LaunchedEnded message) throws IOException {
        List<LaunchedProcess> processes = request(message.id()).getNow(List.of());
        if (message.rank() < 0 || message.rank() >= processes.size()) {
            throw new IOException("it tells of the end of a process that it has not launched");
        }
        beside(() -> processes.get(message.rank()).exit().complete(message.code()));
    }

    /** There will be no more answers. */
    void lost(String reason) {
        lost = reason;
        beside(() -> requests.values().forEach(request -> {
            SessionException failure = new SessionException("launched processes are not heard of any more: " + reason);
            if (!request.completeExceptionally(failure) && !request.isCompletedExceptionally()) {
                request.join().forEach(process -> process.exit().completeExceptionally(failure));
            }
        }));
    }

    private CompletableFuture<List<LaunchedProcess>> request(long id) throws IOException {
        CompletableFuture<List<LaunchedProcess>> request = requests.get(id);
        if (request == null) {
            throw new IOException("it answers what it was not asked");
        }
        return request;
    }

    /** What the user has attached to a future must not run in the thread that reads the control connection. */
    private static void beside(Runnable news) {
        Thread.ofVirtual().name("madeleine-launched").start(news);
    }
}
