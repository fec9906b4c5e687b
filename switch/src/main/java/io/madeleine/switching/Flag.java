package io.madeleine.switching;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A flag with release/acquire semantics and no full fence, since several flags change with each message. A thread that
 * raises a flag and then checks for waiters must issue a full fence in between.
 *
 * <p>Threading: one thread at a time changes it, any thread reads it.
 */
final class Flag {
    private static final VarHandle UP = upHandle();

    @SuppressWarnings("unused") // through UP
    private boolean up;

    private static VarHandle upHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(Flag.class, "up", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void raise() {
        UP.setRelease(this, true);
    }

    void lower() {
        UP.setRelease(this, false);
    }

    boolean isUp() {
        return (boolean) UP.getAcquire(this);
    }
}
