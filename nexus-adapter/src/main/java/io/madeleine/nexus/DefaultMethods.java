package io.madeleine.nexus;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs the default methods of a service's interface on its proxy, also if the interface is not public.
 *
 * <p>Threading: thread-safe.
 */
final class DefaultMethods {
    private static final ClassValue<Map<Method, MethodHandle>> HANDLES = new ClassValue<>() {
        @Override
        protected Map<Method, MethodHandle> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private static final Object[] NONE = {};

    private DefaultMethods() {}

    static @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] parameters)
            throws Throwable {
        Class<?> type = method.getDeclaringClass();
        MethodHandle handle = HANDLES.get(type).get(method);
        if (handle == null) {
            try {
                // else this module could not see the interface of a program on the class path
                DefaultMethods.class.getModule().addReads(type.getModule());
                handle = MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                        .unreflectSpecial(method, type)
                        .asSpreader(Object[].class, method.getParameterCount());
            } catch (IllegalAccessException e) {
                // its package is not open to this module: invokeDefault needs it exported
                return InvocationHandler.invokeDefault(proxy, method, parameters);
            }
            HANDLES.get(type).put(method, handle);
        }
        return handle.invoke(proxy, parameters == null ? NONE : parameters);
    }
}
