package io.madeleine.nexus;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * The streams that this process gives to calls as parameters. They end with their call.
 *
 * <p>Threading: thread-safe.
 */
final class Uploads {
    private static final int ITEM = Wire.id("parameter item");
    private static final int END = Wire.id("parameter end");

    private final Node node;
    private final Calls calls;
    private final Map<Key, Upload> running = new ConcurrentHashMap<>();

    /** Which parameter of which call. */
    private record Key(int node, long call, int parameter) {}

    private record Upload(StreamSender sender, Flow.Publisher<?> publisher) {}

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

    /** Before the call is sent: its streams may be asked for. They do not begin yet. */
    void begin(PendingCall call, @Nullable Object @Nullable [] parameters) {
        for (int index : call.method().streamParameters()) {
            Object parameter = parameters == null ? null : parameters[index];
            if (!(parameter instanceof Flow.Publisher<?> publisher)) {
                throw new NullPointerException(
                        "parameter " + (index + 1) + " of " + call.method() + " is null: expected a Flow.Publisher");
            }
            Key key = new Key(call.rank(), call.id(), index);
            StreamSender.Route route = new StreamSender.Route(
                    key.node(),
                    "parameter " + (index + 1) + " of " + call.method(),
                    ITEM,
                    END,
                    new Class<?>[0],
                    () -> new Arguments().putLong(key.call()).putInt(key.parameter()),
                    () -> Metadata.EMPTY);
            StreamSender upload = new StreamSender(
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
                calls.tellGivenUp(call); // nobody takes what else its publisher has
            }
        };
    }

    /** The call has been sent: its streams begin. */
    void start(PendingCall call) {
        for (int index : call.method().streamParameters()) {
            Upload upload = running.get(new Key(call.rank(), call.id(), index));
            if (upload != null) { // else the call is over
                upload.sender().start(upload.publisher());
            }
        }
    }

    /** The call is over. */
    void end(PendingCall call) {
        for (int index : call.method().streamParameters()) {
            Upload upload = running.remove(new Key(call.rank(), call.id(), index));
            if (upload != null) {
                upload.sender().cancel();
            }
        }
    }
}
