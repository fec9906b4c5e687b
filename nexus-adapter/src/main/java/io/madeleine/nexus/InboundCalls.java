package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The calls that this process executes for others, each in a thread of its own and each answered once. Calls whose
 * deadline has passed are cancelled, even if their callers cannot say so.
 *
 * <p>Threading: thread-safe.
 */
final class InboundCalls implements NodeListener {
    static final int REPLY = RequestLayout.id("reply");

    private static final int ITEM = RequestLayout.id("item");
    private static final int END = RequestLayout.id("end");

    /** The time after the deadline until a call is cancelled, so that its caller notices the deadline first. */
    private static final long GRACE_NS = 20_000_000;

    private static final long CANCEL_TIMEOUT_NS = 1_000_000_000L;
    private static final long LONGEST_NS = Long.MAX_VALUE / 4;

    private final Node node;
    private final Map<Key, InboundCall> running = new ConcurrentHashMap<>();
    private final Sweeper sweeper = new Sweeper(running::isEmpty, this::sweep);

    /** The caller's node and its id for the call. */
    record Key(int caller, long id) {}

    InboundCalls(Node node) {
        this.node = node;
        Endpoint system = node.systemEndpoint();
        system.passingOn("call", (_, request) -> called(request));
        system.nonThreaded("cancel", (_, request) -> cancelled(new Key(request.remote(), request.getLong())));
        system.nonThreaded("credit", (_, request) -> {
            InboundCall call = running.get(new Key(request.remote(), request.getLong()));
            ItemSender stream = call == null ? null : call.stream();
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
        node.add(this);
    }

    private @Nullable ParameterStream parameterIn(Request request) {
        InboundCall call = running.get(new Key(request.remote(), request.getLong()));
        return call == null ? null : call.parameter(request.getInt());
    }

    private void called(Request request) {
        Key key = new Key(request.remote(), request.getLong());
        int endpointId = request.getInt();
        long methodId = request.getLong();
        long left = request.getLong();
        long deadlineNs = System.nanoTime() + Math.min(left & ~Calls.HAS_METADATA, LONGEST_NS);
        boolean isMember = node.nodes().isMember(key.caller());
        Endpoint endpoint = node.find(endpointId);
        boolean mayCall = isMember || node.grants().allow(key.caller(), endpoint, request.getLong(), request.getLong());
        Service service = endpoint == null || !mayCall ? null : endpoint.service();
        Service.Operation operation = service == null ? null : service.operation(methodId);
        if (node.refusesRequests()) {
            refuseClosing(key, deadlineNs);
        } else if (service == null) {
            absent(
                    key,
                    deadlineNs,
                    isMember
                            ? "rank " + node.rank() + " serves nothing at this endpoint: export the service in the"
                                    + " setup of its context"
                            : "the service does not exist, or access was not granted: expected a startpoint that its"
                                    + " context has given to this one (Approver, Arguments.putStartpoint)");
        } else if (operation == null) {
            unlike(key, deadlineNs, service, methodId);
        } else if (!service.tryBegin()) {
            refuse(
                    key,
                    service + " of rank " + node.rank() + " carries out " + service.maxConcurrent()
                            + " calls already (@RemoteService.maxConcurrent)");
        } else {
            boolean hasMetadata = (left & Calls.HAS_METADATA) != 0;
            Method method = operation.method().method();
            begin(key, service, operation, new RemoteCall(key.caller(), deadlineNs, method, hasMetadata), request);
        }
    }

    private void begin(Key key, Service service, Service.Operation operation, RemoteCall current, Request request) {
        InboundCall call = null;
        boolean begun = false;
        try {
            call = new InboundCall(this, key, service, operation, current, request.detach());
            running.put(key, call); // before the first credit arrives
            sweeper.wake();
            begun = node.workers().tryExecute(call);
            if (!begun) {
                refuse(
                        key,
                        "rank " + node.rank() + " carries out " + node.options().maxRunning()
                                + " requests already, or has as many answers that callers do not take"
                                + " (ContextOptions.maxRunning)");
            }
        } catch (Throwable e) { // out of memory, or the user's executor fails
            fail(key, operation.method(), current, e, true);
        } finally {
            if (!begun) {
                running.remove(key);
                if (call == null) {
                    service.end();
                } else {
                    call.giveUp();
                }
            }
        }
    }

    ParameterStream newParameter(
            Key key, ServiceMethod method, int index, long deadlineNs, Consumer<NexusException> callFails) {
        return new ParameterStream(node, key, method, index, deadlineNs, callFails);
    }

    ServerInterceptor[] interceptors() {
        return node.options().serverInterceptorArray();
    }

    ItemSender newStream(
            Key key, ServiceMethod method, RemoteCall call, Function<@Nullable Throwable, Runnable> whenOver) {
        ItemSender.Route route = new ItemSender.Route(
                key.caller(),
                method.toString(),
                ITEM,
                END,
                method.declared(),
                call.deadlineNs(),
                () -> new Arguments().putLong(key.id()),
                call::answerMetadata);
        return new ItemSender(node, route, call, method::writeResult, whenOver);
    }

    /** Called when all parts of a call have ended; it is answered next. */
    void ended() {
        node.workers().answers();
    }

    /** Called when all parts of a call have ended and its caller has been answered. */
    void over(InboundCall call) {
        running.remove(call.key(), call);
        node.workers().answered();
        node.signal().signal();
    }

    // ---- answers

    void succeed(Key key, ServiceMethod method, RemoteCall call, @Nullable Object value, boolean mayWait) {
        Arguments answer = newAnswer(key, call, Answers.Status.VALUE);
        try {
            method.writeResult(answer, value);
            trySend(key, answer, mayWait);
        } catch (DeadlineExceededException e) {
            node.failures().answerNotSent(key.caller(), e);
        } catch (Throwable e) {
            fail(key, method, call, new CodingException("the result of " + method, "sent", e), mayWait);
        }
    }

    private static Arguments newAnswer(Key key, RemoteCall call, byte status) {
        Arguments answer = newAnswer(key, call.deadlineNs());
        Metadata metadata = call.answerMetadata();
        if (metadata.isEmpty()) {
            return answer.putByte(status);
        }
        metadata.write(answer.putByte((byte) (status | Answers.Status.HAS_METADATA)));
        return answer;
    }

    /** An answer that no thread sends for longer than its caller waits: a caller that takes nothing keeps no thread. */
    private static Arguments newAnswer(Key key, long deadlineNs) {
        Arguments answer = new Arguments().putLong(key.id());
        answer.sendSoonAfter(deadlineNs, GRACE_NS);
        return answer;
    }

    void fail(Key key, ServiceMethod method, RemoteCall call, Throwable thrown, boolean mayWait) {
        Arguments answer = newAnswer(key, call, Answers.Status.THROWN);
        ExceptionCoding.write(answer, thrown, method.declared());
        send(key, answer, mayWait);
    }

    /** The failure for the caller of a call that the closing context interrupts. */
    CallException interrupted(ServiceMethod method, @Nullable Throwable thrown) {
        String text = "the call of " + method + " was interrupted after it had begun: rank " + node.rank()
                + " closes its context; effects of the call until then remain";
        return thrown == null
                ? new CallException(ErrorCode.CANCELLED, text)
                : new CallException(ErrorCode.CANCELLED, text, thrown);
    }

    /** Answers a call that has not been executed and will not be, because the context is being closed. */
    void refuseClosing(Key key, long deadlineNs) {
        Arguments answer = newAnswer(key, deadlineNs).putByte(Answers.Status.CLOSING);
        send(key, answer.putText("rank " + node.rank() + " is closing its context"), true);
    }

    private void refuse(Key key, String why) {
        try {
            node.systemRequests().refuseCall(key.caller(), key.id(), why);
        } catch (MadeleineException e) {
            node.failures().answerNotSent(key.caller(), e);
        }
    }

    private void absent(Key key, long deadlineNs, String why) {
        send(key, newAnswer(key, deadlineNs).putByte(Answers.Status.ABSENT).putText(why), true);
    }

    /** Answers a call of a method that the service lacks or has with other types; the caller compares the shapes. */
    private void unlike(Key key, long deadlineNs, Service service, long methodId) {
        Arguments answer = newAnswer(key, deadlineNs).putByte(Answers.Status.UNLIKE);
        answer.putText(service + " of rank " + node.rank());
        List<ServiceMethod> methods = service.namedAs(methodId);
        answer.putInt(methods.size());
        methods.forEach(method -> method.shape().write(answer));
        send(key, answer, true);
    }

    private void send(Key key, Arguments answer, boolean mayWait) {
        try {
            trySend(key, answer, mayWait);
        } catch (MadeleineException e) {
            node.failures().answerNotSent(key.caller(), e);
        }
    }

    private void trySend(Key key, Arguments answer, boolean mayWait) {
        boolean interrupted = Thread.interrupted(); // the interrupt is meant for the implementation, not for its answer
        try {
            if (mayWait) {
                node.tell(key.caller(), REPLY, answer);
            } else {
                node.tellWithoutWait(key.caller(), REPLY, answer);
            }
        } catch (PeerFailedException e) {
            // the caller is gone
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---- ends of calls

    private void cancelled(Key key) {
        InboundCall call = running.get(key);
        if (call != null) {
            call.cancel(InboundCall.Why.CALLER);
        }
    }

    /** Cancels the calls of a peer that is gone: its last route is lost. */
    @Override
    public void routeLost(Peer peer, Route route, String why) {
        if (peer.isAtWork()) {
            return;
        }
        for (InboundCall call : running.values()) {
            if (call.key().caller() == peer.number()) {
                call.callerGone(why);
            }
        }
    }

    private void sweep(long nowNs) {
        for (InboundCall call : running.values()) {
            if (call.isLate(nowNs - GRACE_NS)) {
                call.cancel(InboundCall.Why.DEADLINE);
            }
        }
    }

    /**
     * Cancels all running calls, waits for them for a second at most, and answers in place of those that do not end.
     */
    @Override
    public void closing() {
        running.values().forEach(call -> call.cancel(InboundCall.Why.CLOSE));
        try {
            boolean _ = node.signal().await(running::isEmpty, CANCEL_TIMEOUT_NS, TimeUnit.NANOSECONDS);
        } finally { // interrupted, or the session is closed: they are answered all the same
            running.values().forEach(InboundCall::abandon);
        }
    }
}
