package io.madeleine.nexus.fory;

import io.madeleine.nexus.NexusException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.BiFunction;
import org.apache.fory.Fory;
import org.apache.fory.config.ForyBuilder;
import org.apache.fory.exception.DeserializationException;
import org.apache.fory.meta.Encoders;
import org.apache.fory.serializer.UnknownClass;
import org.apache.fory.serializer.UnknownClass.UnknownEnum;

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
        boolean _ = writers.offer(newWriter()); // reports unsupported classes now
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

    /**
     * Fory needs a stand-in for the constants of an enum in a component that this end lacks. It registers its other
     * stand-ins itself, but not {@link UnknownEnum}. No writer knows it, so it does not leave this end.
     */
    private Fory newReader() {
        Fory fory = create("");
        register(fory, UnknownEnum.class, "");
        return fory;
    }

    /**
     * Marks enums as Fory marks those that are not registered: where a constant's class is written, for instance in an
     * {@code Optional}, the prefix tells an end that lacks the enum what to skip. Readers remove the prefix before they
     * look a name up.
     */
    private Fory newWriter() {
        return create(Encoders.ENUM_PREFIX);
    }

    private Fory create(String enumPrefix) {
        Fory fory = builder(loader).build();
        classes.forEach(each -> register(fory, each, each.isEnum() ? enumPrefix : ""));
        return fory;
    }

    private static void register(Fory fory, Class<?> type, String prefix) {
        String name = type.getName();
        String namespace = type.getPackageName();
        fory.register(type, namespace, prefix + (namespace.isEmpty() ? name : name.substring(namespace.length() + 1)));
    }

    byte[] write(Object value) {
        return DeepStack.call(() -> use(writers, Fory::serialize, value), () -> {
            byte[] bytes = use(writers, Fory::serialize, value);
            Object _ = use(readers, Fory::deserialize, bytes); // reading counts the depth, as the other end will do
            return bytes;
        });
    }

    /**
     * Reads a value.
     *
     * @throws NexusException if Fory cannot make the value, or the value is of a type that this end lacks
     */
    Object read(byte[] bytes) {
        Object value;
        try {
            value = DeepStack.call(
                    () -> use(readers, Fory::deserialize, bytes), () -> use(readers, Fory::deserialize, bytes));
        } catch (DeserializationException e) {
            throw e.getCause() == null ? e : new NexusException(textOf(e.getCause()), e);
        }
        if (value instanceof UnknownClass) {
            throw new NexusException("the other end has sent a value of a type that this end lacks" + nameOf(value));
        }
        return value;
    }

    /** What Fory's own message, "Failed to deserialize input", does not say. */
    private static String textOf(Throwable why) {
        String text = String.valueOf(why.getMessage());
        return why instanceof IllegalArgumentException && text.startsWith("Enum ")
                ? "this end lacks a constant of an enum: " + text
                : "Fory fails, perhaps because the other end has sent a type that this end lacks: " + why;
    }

    /** The class of a stand-in, if it has components: Fory calls them for example {@code shop.Program$Card.number}. */
    private static String nameOf(Object standIn) {
        if (standIn instanceof Map<?, ?> components && !components.isEmpty()) {
            String component = String.valueOf(components.keySet().iterator().next());
            return ": " + component.substring(0, Math.max(0, component.lastIndexOf('.')));
        }
        return "";
    }

    private <T, R> R use(BlockingQueue<Fory> idle, BiFunction<Fory, T, R> task, T value) {
        Fory fory = idle.poll();
        if (fory == null) {
            fory = idle == writers ? newWriter() : newReader();
        }
        R result = task.apply(fory, value);
        boolean _ = idle.offer(fory); // an instance that has thrown is not used again
        return result;
    }
}
