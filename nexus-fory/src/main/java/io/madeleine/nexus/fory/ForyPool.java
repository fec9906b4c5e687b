package io.madeleine.nexus.fory;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.BiFunction;
import org.apache.fory.Fory;
import org.apache.fory.config.ForyBuilder;

/**
 * A pool of identical Fory instances. An instance serves one thread at a time, and ten thousand virtual threads may
 * need one: if all are in use, the pool creates another one, so nobody waits.
 *
 * <p>No instance both writes and reads: Fory 1.6 remembers the version of the elements of the last list that it has
 * read, and would write the next list in that version.
 *
 * <p>Threading: thread-safe.
 */
final class ForyPool {
    static final int MAX_DEPTH = 1024;

    private final ClassLoader loader;
    private final List<Class<?>> classes;
    private final BlockingQueue<Fory> writers = newQueue();
    private final BlockingQueue<Fory> readers = newQueue();

    /** Creates a pool for values of these classes. */
    ForyPool(ClassLoader loader, List<Class<?>> classes) {
        this.loader = loader;
        this.classes = classes;
        boolean _ = writers.offer(create()); // reports unsupported classes now
    }

    private static BlockingQueue<Fory> newQueue() {
        return new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());
    }

    /** Without code generation: the receiving thread may read a value, and must not wait for a compiler. */
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
            Object _ = use(readers, Fory::deserialize, bytes); // reading counts the depth, as the other end will do
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
        boolean _ = idle.offer(fory); // an instance that has thrown is not used again
        return result;
    }
}
