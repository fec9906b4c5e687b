package io.madeleine.nexus;

import io.madeleine.nexus.wire.RequestLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * The streams that this process passes to calls as parameters. They end with their call.
 *
 * <p>Threading: thread-safe.
 */
final class Uploads {
    private static final int ITEM = RequestLayout.id("parameter item");
    private static final int END = RequestLayout.id("parameter end");

    private final Node node;
    private final Calls calls;
    private final Map<Key, Upload> running = new ConcurrentHashMap<>();

    /** A parameter of a call. */
    private record Key(int node, long call, int parameter) {}

    private record Upload(ItemSender sender, Flow.Publisher<?> publisher) {}

    Uploads(Node node, Calls calls, Endpoint system) {
        this.node = node;
        this.calls = calls;
        system.nonThreaded("parameter credit", (_, request) -> {
            Upload upload = running.get(keyIn(request));
            if (upload != null) {
                upload.sender().credit(request.getLong());
            }
        });
        system.nonThreaded("parameter cancel", (_, request) -> {
            Upload upload = running.get(keyIn(request));
            if (upload != null) {
                upload.sender().cancel();
            }
        });
    }

    private static Key keyIn(Request request) {
        return new Key(request.remote(), request.getLong(), request.getInt());
    }

    /**
     * Registers the streams before the call is sent, because the other side may give credit as soon as it has the call.
     * They do not publish yet.
     */
    void begin(PendingCall call, @Nullable Object @Nullable [] parameters) {
        for (int index : call.method().streamParameters()) {
            Object parameter = parameters == null ? null : parameters[index];
            if (!(parameter instanceof Flow.Publisher<?> publisher)) {
                throw new NullPointerException(
                        "parameter " + (index + 1) + " of " + call.method() + " is null: expected a Flow.Publisher");
            }
            Key key = new Key(call.rank(), call.id(), index);
            ItemSender.Route route = new ItemSender.Route(
                    key.node(),
                    "parameter " + (index + 1) + " of " + call.method(),
                    ITEM,
                    END,
                    new Class<?>[0],
                    call.deadlineNs(),
                    () -> new Arguments().putLong(key.call()).putInt(key.parameter()),
                    () -> Metadata.EMPTY);
            ItemSender upload = new ItemSender(
                    node,
                    route,
                    RemoteCall.currentOrNull(),
                    (arguments, item) -> call.method().writeItem(index, arguments, item),
                    failure -> over(call, key, failure));
            running.put(key, new Upload(upload, publisher));
        }
    }

    private Runnable over(PendingCall call, Key key, @Nullable Throwable failure) {
        running.remove(key);
        if (failure == null) {
            return () -> {};
        }
        List<Upload> others = new ArrayList<>();
        for (int index : call.method().streamParameters()) {
            Upload other = running.remove(new Key(key.node(), key.call(), index));
            if (other != null) {
                others.add(other);
            }
        }
        if (calls.remove(call) == null) {
            return () -> {};
        }
        calls.fail(call, failure);
        return () -> {
            others.forEach(other -> other.sender().fail(failure));
            if (call.method().kind() == ServiceMethod.Kind.STREAM) {
                calls.tellGivenUp(call); // the result stream is not wanted any more
            }
        };
    }

    /** Starts the streams, after the call has been sent. */
    void start(PendingCall call) {
        for (int index : call.method().streamParameters()) {
            Upload upload = running.get(new Key(call.rank(), call.id(), index));
            if (upload != null) { // else the call has ended
                upload.sender().start(upload.publisher());
            }
        }
    }

    /** Ends the streams of a call that has ended. */
    void end(PendingCall call) {
        for (int index : call.method().streamParameters()) {
            Upload upload = running.remove(new Key(call.rank(), call.id(), index));
            if (upload != null) {
                upload.sender().cancel();
            }
        }
    }
}
