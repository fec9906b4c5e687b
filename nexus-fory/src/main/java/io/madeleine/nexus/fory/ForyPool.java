package io.madeleine.nexus.fory;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.BiFunction;
import org.apache.fory.Fory;
import org.apache.fory.config.ForyBuilder;

/**
 * Serialisers that are alike, one for each value that is being written or read: they serve one thread at a time, and there may be
 * ten thousand virtual ones. Nobody waits: if all are at work there is one more.
 *
 * <p>None both writes and reads: Fory 1.6 remembers of which version the elements of the last list were that it has read, and would
 * write the next list as that.
 *
 * <p>Threading: thread-safe.
 */
final class ForyPool {
    static final int MAX_DEPTH = 1024;

    private final ClassLoader loader;
    private final List<Class<?>> classes;
    private final BlockingQueue<Fory> writers = newQueue();
    private final BlockingQueue<Fory> readers = newQueue();

    /** For values of these classes. */
    ForyPool(ClassLoader loader, List<Class<?>> classes) {
        this.loader = loader;
        this.classes = classes;
        boolean _ = writers.offer(create()); // so that what it does not take is known now
    }

    private static BlockingQueue<Fory> newQueue() {
        return new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());
    }

    /** Interpreted: a value may be read by the thread that receives for all, which must not compile. */
    static ForyBuilder builder(ClassLoader loader) {
        return Fory.builder()
                .withXlang(false)
                .withCompatible(true)
                .withCodegen(false)
                .withClassLoader(loader)
                .requireClassRegistration(true)
                .serializeEnumByName(true)
                .withMaxDepth(MAX_DEPTH);
    }

    private Fory create() {
        Fory fory = builder(loader).build();
        for (Class<?> each : classes) {
            String name = each.getName();
            String namespace = each.getPackageName();
            fory.register(each, namespace, namespace.isEmpty() ? name : name.substring(namespace.length() + 1));
        }
        return fory;
    }

    byte[] write(Object value) {
        return DeepStack.call(() -> use(writers, Fory::serialize, value), () -> {
            byte[] bytes = use(writers, Fory::serialize, value);
            Object _ = use(readers, Fory::deserialize, bytes); // where the depth is counted, at the other end, too
            return bytes;
        });
    }

    Object read(byte[] bytes) {
        return DeepStack.call(
                () -> use(readers, Fory::deserialize, bytes), () -> use(readers, Fory::deserialize, bytes));
    }

    private <T, R> R use(BlockingQueue<Fory> idle, BiFunction<Fory, T, R> task, T value) {
        Fory fory = idle.poll();
        if (fory == null) {
            fory = create();
        }
        R result = task.apply(fory, value);
        boolean _ = idle.offer(fory); // one that has thrown something is not used again
        return result;
    }
}
