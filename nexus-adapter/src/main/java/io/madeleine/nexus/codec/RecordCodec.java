package io.madeleine.nexus.codec;

import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Codec;
import io.madeleine.nexus.NexusException;
import io.madeleine.nexus.Request;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The codec of a record: writes component by component, and reads through the canonical constructor, which validates.
 *
 * <p>Threading: thread-safe.
 */
public final class RecordCodec implements Codec<Object> {
    private final Class<?> type;
    private final List<MethodHandle> accessors = new ArrayList<>();
    private final List<Codec<Object>> components = new ArrayList<>();
    private final MethodHandle constructor;

    public RecordCodec(Type generic, Function<Type, Codec<Object>> codecs) {
        this.type = Types.raw(generic);
        Map<TypeVariable<?>, Type> variables = Types.variables(generic);
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            RecordComponent[] found = type.getRecordComponents();
            for (RecordComponent component : found) {
                Method accessor = component.getAccessor();
                accessor.setAccessible(true);
                accessors.add(lookup.unreflect(accessor).asType(MethodType.methodType(Object.class, Object.class)));
                components.add(codecs.apply(Types.resolve(component.getGenericType(), variables)));
            }
            Constructor<?> canonical = type.getDeclaredConstructor(
                    Arrays.stream(found).map(RecordComponent::getType).toArray(Class<?>[]::new));
            canonical.setAccessible(true);
            constructor = lookup.unreflectConstructor(canonical)
                    .asSpreader(Object[].class, found.length)
                    .asType(MethodType.methodType(Object.class, Object[].class));
        } catch (ReflectiveOperationException | java.lang.reflect.InaccessibleObjectException e) {
            throw new IllegalArgumentException(
                    "the record " + type.getName()
                            + " cannot be accessed by io.madeleine.nexus: make it public, or"
                            + " open its package to that module",
                    e);
        }
    }

    @Override
    public void write(Arguments arguments, Object value) {
        try {
            for (int i = 0; i < components.size(); i++) {
                components.get(i).write(arguments, (Object) accessors.get(i).invokeExact(value));
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new NexusException("an accessor of " + type.getName() + " failed", e);
        }
    }

    @Override
    public Object read(Request request) {
        Object[] values = new Object[components.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = components.get(i).read(request);
        }
        try {
            return (Object) constructor.invokeExact(values);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new NexusException("the constructor of " + type.getName() + " failed", e);
        }
    }
}
