package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * The calls that this process carries out for others: each in a thread of its own, and each answered once.
 *
 * <p>Threading: thread-safe.
 */
final class ServedCalls {
    static final int REPLY = Wire.id("reply");

    private static final int ITEM = Wire.id("item");
    private static final int END = Wire.id("end");
    private static final ParameterStream[] NONE = {};

    private final Node node;
    private final Map<Key, RemoteCall> running = new ConcurrentHashMap<>();
    private final Map<Key, StreamSender> streams = new ConcurrentHashMap<>();

    /** Those of calls that have streams as parameters. */
    private final Map<Key, ParameterStream[]> parameters = new ConcurrentHashMap<>();

    /** Whose call, and which. */
    record Key(int caller, long id) {}

    ServedCalls(Node node, Endpoint system) {
        this.node = node;
        system.nonThreaded("call", (_, request) -> called(request));
        system.nonThreaded("cancel", (_, request) -> cancelled(new Key(request.remote(), request.getLong())));
        system.nonThreaded("credit", (_, request) -> {
            StreamSender stream = streams.get(new Key(request.remote(), request.getLong()));
            if (stream != null) {
                stream.credit(request.getLong());
            }
        });
        system.nonThreaded("parameter item", (_, request) -> {
            ParameterStream stream = parameterIn(request);
            if (stream != null) {
                stream.item(request);
            }
        });
        system.nonThreaded("parameter end", (_, request) -> {
            ParameterStream stream = parameterIn(request);
            if (stream != null) {
                stream.end(request);
            }
        });
    }

    private @Nullable ParameterStream parameterIn(Request request) {
        ParameterStream[] all = parameters.get(new Key(request.remote(), request.getLong()));
        int index = request.getInt();
        if (all != null) {
            for (ParameterStream each : all) {
                if (each.index() == index) {
                    return each;
                }
            }
        }
        return null; // of a call that is over
    }

    private void called(Request request) {
        Key key = new Key(request.remote(), request.getLong());
        int endpointId = request.getInt();
        int methodId = request.getInt();
        long deadlineNs = System.nanoTime() + request.getLong();
        boolean isMember = node.nodes().isMember(key.caller());
        Endpoint endpoint = node.find(endpointId);
        boolean mayCall = isMember || node.grants().allow(key.caller(), endpoint, request.getLong(), request.getLong());
        Service service = endpoint == null || !mayCall ? null : endpoint.service();
        Service.Operation operation = service == null ? null : service.operation(methodId);
        if (node.refusesRequests()) {
            refuse(key, "rank " + node.rank() + " is closing its context");
        } else if (service == null) {
            absent(
                    key,
                    isMember
                            ? "rank " + node.rank() + " has no service there: export it in the setup of its context"
                            : "there is no service, or it was not granted: expected a startpoint that its context has"
                                    + " given to this one (Approver, Arguments.putStartpoint)");
        } else if (operation == null) {
            absent(
                    key,
                    service + " of rank " + node.rank() + " has no such method: both sides need the same interface");
        } else if (!service.tryBegin()) {
            refuse(
                    key,
                    service + " of rank " + node.rank() + " carries out " + service.maxConcurrent()
                            + " calls already (@RemoteService.maxConcurrent)");
        } else {
            begin(key, service, operation, deadlineNs, request);
        }
    }

    private void begin(Key key, Service service, Service.Operation operation, long deadlineNs, Request request) {
        boolean begun;
        try {
            begun = tryBegin(key, service, operation, deadlineNs, request.detach());
        } catch (Throwable e) { // memory is short, or the user's executor fails
            abandon(key, service);
            fail(key, operation.method(), e);
            return;
        }
        if (!begun) {
            abandon(key, service);
            refuse(
                    key,
                    "rank " + node.rank() + " carries out " + node.options().maxRunning()
                            + " requests already (ContextOptions.maxRunning)");
        }
    }

    /** It has not begun. */
    private void abandon(Key key, Service service) {
        running.remove(key);
        streams.remove(key);
        endParameters(key);
        service.end();
    }

    private boolean tryBegin(Key key, Service service, Service.Operation operation, long deadlineNs, Request request) {
        RemoteCall call = new RemoteCall(key.caller(), deadlineNs);
        running.put(key, call);
        if (operation.method().kind() == ServiceMethod.Kind.STREAM) { // before the first credit comes
            StreamSender.Route route = new StreamSender.Route(
                    key.caller(),
                    operation.method().toString(),
                    ITEM,
                    END,
                    operation.method().declared(),
                    () -> new Arguments().putLong(key.id()));
            streams.put(key, new StreamSender(node, route, operation.method()::writeResult, _ -> () -> {
                streams.remove(key);
                endParameters(key);
            }));
        }
        for (int index : operation.method().streamParameters()) {
            ParameterStream[] soFar = parameters.getOrDefault(key, NONE);
            ParameterStream[] all = Arrays.copyOf(soFar, soFar.length + 1);
            all[soFar.length] = new ParameterStream(
                    node, key, operation.method(), index, failure -> streamFailed(key, operation.method(), failure));
            parameters.put(key, all);
        }
        boolean begun = node.workers().tryExecute(() -> {
            try {
                call.run(() -> carryOut(key, operation, request));
            } finally {
                running.remove(key);
                service.end();
                node.workers().done();
                node.signal().signal();
            }
        });
        if (!begun) {
            request.finish();
        }
        return begun;
    }

    /** An item of a parameter could not be read: the caller hears it at once, the implementation by its subscriber. */
    private void streamFailed(Key key, ServiceMethod method, NexusException failure) {
        StreamSender result = streams.remove(key);
        if (result != null) {
            result.cancel();
        }
        ParameterStream[] all = parameters.remove(key);
        fail(key, method, failure); // first: the implementation may return when it sees its stream end
        for (ParameterStream each : all == null ? NONE : all) {
            each.fail(failure);
        }
    }

    private void carryOut(Key key, Service.Operation operation, Request request) {
        try {
            @Nullable Object[] values;
            try {
                values = operation.method().readParameters(request, parameters.getOrDefault(key, NONE));
            } catch (Throwable e) {
                throw new CodingException("the arguments of " + operation.method(), "read", e);
            } finally {
                request.finish();
            }
            answer(key, operation, operation.invoke(values));
        } catch (Throwable e) {
            streams.remove(key);
            fail(key, operation.method(), e);
        }
    }

    private void answer(Key key, Service.Operation operation, @Nullable Object result) {
        switch (operation.method().kind()) {
            case VALUE -> succeed(key, operation.method(), result);
            case FUTURE -> {
                if (result instanceof CompletionStage<?> stage) {
                    stage.whenComplete((value, thrown) -> {
                        if (thrown == null) {
                            succeed(key, operation.method(), value);
                        } else {
                            fail(key, operation.method(), unwrapped(thrown));
                        }
                    });
                } else {
                    fail(key, operation.method(), new NullPointerException(operation.method() + " returned no future"));
                }
            }
            case STREAM -> {
                StreamSender stream = streams.get(key);
                if (stream != null && result instanceof Flow.Publisher<?> publisher) {
                    stream.start(publisher);
                } else {
                    fail(
                            key,
                            operation.method(),
                            new NullPointerException(operation.method() + " returned no publisher"));
                }
            }
        }
    }

    static Throwable unwrapped(Throwable thrown) {
        Throwable cause = thrown.getCause();
        return thrown instanceof java.util.concurrent.CompletionException && cause != null ? cause : thrown;
    }

    private void succeed(Key key, ServiceMethod method, @Nullable Object value) {
        Arguments answer = new Arguments().putLong(key.id()).putByte(Answers.Status.VALUE);
        try {
            method.writeResult(answer, value);
            trySend(key, answer);
        } catch (Throwable e) {
            fail(key, method, new CodingException("the result of " + method, "sent", e));
        }
    }

    private void fail(Key key, ServiceMethod method, Throwable thrown) {
        Arguments answer = new Arguments().putLong(key.id()).putByte(Answers.Status.THROWN);
        Thrown.write(answer, thrown, method.declared());
        send(key, answer);
    }

    private void refuse(Key key, String why) {
        send(
                key,
                new Arguments()
                        .putLong(key.id())
                        .putByte(Answers.Status.REFUSED)
                        .putString(why));
    }

    private void absent(Key key, String why) {
        send(
                key,
                new Arguments().putLong(key.id()).putByte(Answers.Status.ABSENT).putString(why));
    }

    /** The call is over, and so are the streams it has as parameters. */
    private void endParameters(Key key) {
        ParameterStream[] all = parameters.isEmpty() ? null : parameters.remove(key);
        if (all != null) {
            for (ParameterStream each : all) {
                each.fail(new CancellationException("the call is over"));
            }
        }
    }

    private void send(Key key, Arguments answer) {
        try {
            trySend(key, answer);
        } catch (MadeleineException e) {
            node.failures().sendFailed(key.caller(), e);
        }
    }

    private void trySend(Key key, Arguments answer) {
        endParameters(key);
        boolean interrupted = Thread.interrupted(); // it is meant for the implementation, not for its answer
        try {
            node.tell(key.caller(), REPLY, answer);
        } catch (PeerFailedException e) {
            // nobody is there to be answered
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void cancelled(Key key) {
        RemoteCall call = running.get(key);
        if (call != null) {
            call.cancel();
        }
        endParameters(key);
        StreamSender stream = streams.get(key);
        if (stream != null) {
            stream.cancel();
        }
    }

    /** Nobody waits for the calls of this peer any more. */
    void peerGone(int rank) {
        for (Key key : running.keySet()) {
            if (key.caller() == rank) {
                cancelled(key);
            }
        }
        for (Map<Key, ?> each : List.of(streams, parameters)) {
            for (Key key : each.keySet()) {
                if (key.caller() == rank) {
                    cancelled(key);
                }
            }
        }
    }
}
