package io.madeleine.mpi.device;

import org.jspecify.annotations.Nullable;

/**
 * The pool of control messages.
 *
 * <p>Threading: thread-safe.
 */
final class Controls {
    private final SpinLock lock = new SpinLock();
    private @Nullable Control free;

    Control take(byte kind, long context, int tag, int sender, long bytes) {
        Control control;
        lock.lock();
        try {
            control = free;
            if (control != null) {
                free = control.nextFree;
            }
        } finally {
            lock.unlock();
        }
        if (control == null) {
            control = new Control(this::give);
        }
        control.kind = kind;
        control.context = context;
        control.tag = tag;
        control.sender = sender;
        control.bytes = bytes;
        return control;
    }

    private void give(Control control) {
        lock.lock();
        try {
            control.nextFree = free;
            free = control;
        } finally {
            lock.unlock();
        }
    }
}
