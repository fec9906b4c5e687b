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
 * <p>Threading: thread-safe.
 */
final class ForyPool {
    private static final int MAX_DEPTH = 1024;

    private final ClassLoader loader;
    private final List<Class<?>> classes;
    private final BlockingQueue<Fory> idle =
            new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());

    /** For values of these classes. */
    ForyPool(ClassLoader loader, List<Class<?>> classes) {
        this.loader = loader;
        this.classes = classes;
        boolean _ = idle.offer(create()); // so that what it does not take is known now
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
        return use(Fory::serialize, value);
    }

    Object read(byte[] bytes) {
        return use(Fory::deserialize, bytes);
    }

    private <T, R> R use(BiFunction<Fory, T, R> task, T value) {
        Fory fory = idle.poll();
        if (fory == null) {
            fory = create();
        }
        R result = task.apply(fory, value);
        boolean _ = idle.offer(fory); // one that has thrown something is not used again
        return result;
    }
}
