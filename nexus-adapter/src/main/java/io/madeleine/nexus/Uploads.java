package io.madeleine.nexus;

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
    private final Map<Key, StreamSender> running = new ConcurrentHashMap<>();

    /** Which parameter of which call. */
    private record Key(int node, long call, int parameter) {}

    Uploads(Node node, Endpoint system) {
        this.node = node;
        system.nonThreaded("parameter credit", (_, request) -> {
            StreamSender upload = running.get(keyIn(request));
            if (upload != null) {
                upload.credit(request.getLong());
            }
        });
        system.nonThreaded("parameter cancel", (_, request) -> {
            StreamSender upload = running.get(keyIn(request));
            if (upload != null) {
                upload.cancel();
            }
        });
    }

    private static Key keyIn(Request request) {
        return new Key(request.remote(), request.getLong(), request.getInt());
    }

    /** Before the call is sent: its streams may be asked for. */
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
                    ITEM,
                    END,
                    new Class<?>[0],
                    () -> new Arguments().putLong(key.call()).putInt(key.parameter()));
            StreamSender upload = new StreamSender(
                    node,
                    route,
                    (arguments, item) -> call.method().writeItem(index, arguments, item),
                    () -> running.remove(key));
            running.put(key, upload);
            upload.start(publisher);
        }
    }

    /** The call is over. */
    void end(PendingCall call) {
        for (int index : call.method().streamParameters()) {
            StreamSender upload = running.remove(new Key(call.rank(), call.id(), index));
            if (upload != null) {
                upload.cancel();
            }
        }
    }
}
