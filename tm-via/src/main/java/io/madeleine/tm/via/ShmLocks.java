package io.madeleine.tm.via;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Frees the locks that dead processes hold over the provider shm.
 *
 * <p>In libfabric 1.17 the memory of each endpoint has a spin lock. The owner holds it while it polls; another
 * process holds it while it sends to the owner. If a process is killed while it holds the lock of its own memory,
 * every thread that sends to it spins within libfabric. So a thread looks twice a second at the locks of all
 * processes to which this one sends. A lock that is held in two looks, and whose process has ended, is freed. The
 * message then goes to memory that nobody reads any more.
 *
 * <p>The layout is that of libfabric 1.17 and of glibc on x86-64; elsewhere nothing is watched.
 *
 * <p>Threading: any thread. The watching thread ends with {@link #close}.
 */
final class ShmLocks implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.tm.via");
    private static final long LOOK_NS = 500_000_000;

    /** For how many looks a lock is watched after its process has ended: senders learn of the end within two. */
    private static final int LOOKS_AFTER_DEATH = 20;

    /** One look in this many checks whether the process lives: that costs a system call. */
    private static final int LOOKS_PER_CHECK = 10;

    // ---- a spin lock of glibc on x86-64: a thread that tries to take it subtracts 1, and has it if the result is 0

    private static final int FREE = 1;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final ViaAddress own;
    private final Map<String, Watched> watched = new ConcurrentHashMap<>();
    private final Thread thread;
    private volatile boolean closed;

    ShmLocks(ViaAddress own) {
        this.own = own;
        this.thread = Thread.ofPlatform().daemon().name("madeleine-via-shm").unstarted(this::watch);
    }

    /** Watches the lock of the process of an endpoint, if it is another one and its memory looks as expected. */
    void add(byte[] endpoint) {
        ViaAddress process = ShmFiles.address(endpoint, own).orElse(own);
        if (process.pid() == own.pid() || closed) {
            return;
        }
        watched.computeIfAbsent(process.nameText(), _ -> {
            MemorySegment head = ShmMemory.headOf(process);
            return head == null ? null : new Watched(process, head);
        });
        synchronized (thread) {
            if (thread.getState() == Thread.State.NEW && !watched.isEmpty()) {
                thread.start();
            }
        }
    }

    private void watch() {
        while (!closed) {
            LockSupport.parkNanos(this, LOOK_NS);
            watched.values().removeIf(each -> each.look(own));
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** Confined to the watching thread. */
    private static final class Watched {
        private final ViaAddress process;
        private final MemorySegment head;
        private boolean wasHeld;
        private int looks;
        private int looksSinceDeath;

        Watched(ViaAddress process, MemorySegment head) {
            this.process = process;
            this.head = head;
        }

        /** Looks at the lock; returns whether no thread can want it any more. */
        boolean look(ViaAddress own) {
            boolean isHeld = (int) INT.getVolatile(head, (long) ShmMemory.LOCK) < FREE;
            boolean stays = isHeld && wasHeld;
            wasHeld = isHeld;
            if (looksSinceDeath == 0 && (stays || ++looks % LOOKS_PER_CHECK == 0) && process.isDead(own)) {
                looksSinceDeath = 1;
            }
            if (looksSinceDeath == 0) {
                return false;
            }
            if (stays) {
                INT.setVolatile(head, (long) ShmMemory.LOCK, FREE);
                wasHeld = false;
                LOGGER.log(Level.DEBUG, "process {0} has ended while it held its lock", process.pid());
            }
            return ++looksSinceDeath > LOOKS_AFTER_DEATH;
        }
    }
}
