package io.madeleine.switching;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A flag that publishes what was written before it, and costs no fence: several of them change with each message. Who
 * raises one for others to see passes a full fence before looking whether they wait.
 *
 * <p>Threading: one thread at a time changes it, any reads it.
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
