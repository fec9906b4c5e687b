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
import org.apache.fory.exception.ForyException;
import org.apache.fory.exception.InsecureException;
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

    private static final String COPY_COLLECTIONS =
            " Of collections, send copies in an ArrayList, HashSet or HashMap: views"
                    + " (Arrays.asList, keySet, reversed) and lists of Stream.toList with a null are not carried";

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

    /**
     * Writes a value.
     *
     * @throws NexusException if the value, or one in it, is of a class that the interface does not mention
     */
    byte[] write(Object value) {
        try {
            return DeepStack.call(() -> use(writers, Fory::serialize, value), () -> {
                byte[] bytes = use(writers, Fory::serialize, value);
                Object _ = use(readers, Fory::deserialize, bytes); // reading counts the depth, as the other end will do
                return bytes;
            });
        } catch (ForyException e) {
            throw explained(e);
        }
    }

    /** What Fory's own message advises, to register the class, is not for users. */
    private static RuntimeException explained(ForyException thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            String text = String.valueOf(each.getMessage());
            int end = text.indexOf(" is not registered");
            if (each instanceof InsecureException && end > 0) {
                return new NexusException(
                        "an object of " + text.substring(0, end) + " cannot be sent: the types of the interface do not"
                                + " mention this class." + COPY_COLLECTIONS,
                        thrown);
            }
        }
        return thrown;
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
        if (cannotBeMade(why)) {
            return "this end cannot make a value: " + why + ". A constructor may refuse null." + COPY_COLLECTIONS;
        }
        return why instanceof IllegalArgumentException && text.startsWith("Enum ")
                ? "this end lacks a constant of an enum: " + text
                : "Fory fails, perhaps because the other end has sent a type that this end lacks: " + why;
    }

    /** Fory writes some collections of the JDK that it cannot read, such as an immutable list with a null. */
    private static boolean cannotBeMade(Throwable why) {
        for (Throwable each = why; each != null; each = each.getCause()) {
            if (each instanceof NullPointerException || each instanceof ArrayStoreException) {
                return true;
            }
        }
        return false;
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
