package io.madeleine.samples;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Remote procedure calls: rank 0 serves, all other ranks call. A request is a number, the name of a method and its
 * arguments. The answer carries the same number, so answers may come in any order. The server runs each request in a
 * virtual thread of its own, so a request that waits does not delay the others.
 *
 * <p>Each client makes three calls at once. {@code meet} answers when all clients have called it: it is called first
 * and answered last.
 *
 * <pre>
 * ./mad run -n 3 samples/src/main/java/io/madeleine/samples/RpcServer.java
 *
 * [0] answered 6 requests
 * [1] add(1, 2, 3) = 6
 * [1] fly() failed: no method fly, there are add, meet
 * [1] meet(1) = 3
 * [2] add(2, 4, 6) = 12
 * [2] fly() failed: no method fly, there are add, meet
 * [2] meet(2) = 3
 * </pre>
 */
public final class RpcServer {
    private static final int SERVER = 0;

    /** The number of a client's goodbye, its last request. */
    private static final long GOODBYE = -1;

    private static final int MAX_ARGUMENTS = 1 << 16;

    private RpcServer() {}

    /** Rank 0 serves, the others call. */
    public static void main(String[] arguments) {
        try (Session session = Session.open(arguments)) {
            if (session.rank() == SERVER) {
                new Server(session.channel(), session.size() - 1).serve();
            } else {
                call(session.channel(), session.rank());
            }
        }
    }

    private static void call(Channel channel, int rank) {
        Client client = new Client(channel);
        Thread.ofVirtual().start(client::receiveAnswers);
        CompletableFuture<String> meeting = client.call("meet", rank);
        CompletableFuture<String> sum = client.call("add", rank, 2L * rank, 3L * rank);
        CompletableFuture<String> unknown = client.call("fly");
        for (CompletableFuture<String> answer : List.of(sum, unknown, meeting)) {
            System.out.println(answer.join());
        }
        client.goodbye();
    }

    /** Answers requests until all clients have said goodbye. */
    private static final class Server {
        private final Channel channel;
        private final int clients;
        private final AtomicInteger answered = new AtomicInteger();
        private final CompletableFuture<Long> everybodyIsHere = new CompletableFuture<>();
        private final AtomicLong met = new AtomicLong();
        private final AtomicInteger present = new AtomicInteger();

        Server(Channel channel, int clients) {
            this.channel = channel;
            this.clients = clients;
        }

        void serve() {
            try (ExecutorService perRequest = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int open = clients; open > 0; ) {
                    try (IncomingMessage message = channel.beginUnpacking()) {
                        int client = message.remote();
                        long id = message.unpackLong();
                        String method = message.unpackUtf8(64);
                        long[] arguments = unpackArguments(message);
                        message.endUnpacking();
                        if (id == GOODBYE) {
                            open--;
                        } else {
                            perRequest.execute(() -> answer(client, id, method, arguments));
                        }
                    }
                }
            } // close() waits until all requests are answered
            System.out.println("answered " + answered + " requests");
        }

        private static long[] unpackArguments(IncomingMessage message) {
            int count = message.unpackInt();
            if (count < 0 || count > MAX_ARGUMENTS) {
                throw new IllegalArgumentException(
                        "expected 0 to " + MAX_ARGUMENTS + " arguments, found " + Integer.toUnsignedString(count));
            }
            long[] arguments = new long[count];
            message.unpack(arguments, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            return arguments;
        }

        /** Runs in a virtual thread, so it may wait. */
        private void answer(int client, long id, String method, long[] arguments) {
            boolean ok = true;
            String result;
            try {
                result = Long.toString(invoke(method, arguments));
            } catch (RuntimeException e) {
                ok = false;
                result = String.valueOf(e.getMessage());
            }
            try (OutgoingMessage message = channel.beginPacking(client)) {
                message.packLong(id).packBoolean(ok).packUtf8(result);
                message.endPacking();
            }
            answered.incrementAndGet();
        }

        private long invoke(String method, long[] arguments) {
            return switch (method) {
                case "add" -> Arrays.stream(arguments).sum();
                case "meet" -> {
                    met.addAndGet(arguments[0]);
                    if (present.incrementAndGet() == clients) {
                        everybodyIsHere.complete(met.get());
                    }
                    yield everybodyIsHere.join();
                }
                default -> throw new IllegalArgumentException("no method " + method + ", there are add, meet");
            };
        }
    }

    /** Makes calls and matches answers to them. */
    private static final class Client {
        private record Call(String text, CompletableFuture<String> answer) {}

        private final Channel channel;
        private final Map<Long, Call> open = new ConcurrentHashMap<>();
        private final AtomicLong lastId = new AtomicLong();

        Client(Channel channel) {
            this.channel = channel;
        }

        CompletableFuture<String> call(String method, long... arguments) {
            String text = method + Arrays.toString(arguments).replace('[', '(').replace(']', ')');
            Call call = new Call(text, new CompletableFuture<>());
            long id = lastId.incrementAndGet();
            open.put(id, call);
            send(id, method, arguments);
            return call.answer();
        }

        void goodbye() {
            send(GOODBYE, "");
        }

        private void send(long id, String method, long... arguments) {
            try (OutgoingMessage message = channel.beginPacking(SERVER)) {
                message.packLong(id).packUtf8(method).packInt(arguments.length);
                message.pack(arguments, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                message.endPacking();
            }
        }

        /** Runs in a virtual thread until the session closes. The main program waits for the answers. */
        void receiveAnswers() {
            try {
                while (true) {
                    try (IncomingMessage message = channel.beginUnpacking(SERVER)) {
                        Call call = open.remove(message.unpackLong());
                        boolean ok = message.unpackBoolean();
                        String result = message.unpackUtf8();
                        message.endUnpacking();
                        if (call != null) {
                            call.answer().complete(call.text() + (ok ? " = " : " failed: ") + result);
                        }
                    }
                }
            } catch (MadeleineException e) {
                // the session was closed, or failed
                open.values().forEach(call -> call.answer().completeExceptionally(e));
            }
        }
    }
}
