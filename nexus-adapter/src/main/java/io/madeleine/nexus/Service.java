package io.madeleine.nexus;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of a remote service at an endpoint.
 *
 * <p>Threading: thread-safe if the implementation is.
 */
final class Service {
    private final Class<?> type;
    private final Map<Long, Operation> operations = new HashMap<>();
    private final int maxConcurrent;
    private final AtomicInteger running = new AtomicInteger();

    /** A method of the interface and the handle that invokes the implementation. */
    record Operation(ServiceMethod method, MethodHandle implementation) {
        @Nullable
        Object invoke(@Nullable Object[] parameters) throws Throwable {
            return (Object) implementation.invokeExact(parameters);
        }
    }

    Service(Class<?> type, Object implementation, ServiceMethods methods) {
        this.type = type;
        int bound = ServiceMethod.describe(type).maxConcurrent();
        if (bound < 0) {
            throw new IllegalArgumentException(type.getName() + " cannot be served: @RemoteService.maxConcurrent is "
                    + bound + ", expected 0 for no bound, or more");
        }
        this.maxConcurrent = bound == 0 ? Integer.MAX_VALUE : bound;
        methods.of(type)
                .forEach((id, method) ->
                        operations.put(id, new Operation(method, bind(method.method(), implementation))));
    }

    private static MethodHandle bind(Method method, Object implementation) {
        try {
            method.setAccessible(true);
            return MethodHandles.lookup()
                    .unreflect(method)
                    .bindTo(implementation)
                    .asSpreader(Object[].class, method.getParameterCount())
                    .asType(MethodType.methodType(Object.class, Object[].class));
        } catch (IllegalAccessException | java.lang.reflect.InaccessibleObjectException e) {
            throw new IllegalArgumentException(
                    method
                            + " cannot be called by io.madeleine.nexus: make its interface public, or open its package"
                            + " to that module",
                    e);
        }
    }

    @Nullable
    Operation operation(long id) {
        return operations.get(id);
    }

    /** The methods whose name has the {@link ServiceMethod#nameNumber} of the given method number. */
    List<ServiceMethod> namedAs(long id) {
        return operations.values().stream()
                .map(Operation::method)
                .filter(method -> ServiceMethod.nameNumber(method.id()) == ServiceMethod.nameNumber(id))
                .toList();
    }

    /** Counts one more running call; false if the bound is reached. After true, {@link #end} must follow. */
    boolean tryBegin() {
        if (running.incrementAndGet() > maxConcurrent) {
            running.decrementAndGet();
            return false;
        }
        return true;
    }

    void end() {
        running.decrementAndGet();
    }

    int maxConcurrent() {
        return maxConcurrent;
    }

    @Override
    public String toString() {
        return "service " + type.getName();
    }
}
