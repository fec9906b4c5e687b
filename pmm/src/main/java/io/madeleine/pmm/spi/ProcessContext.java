package io.madeleine.pmm.spi;

import java.lang.System.Logger;
import java.util.function.Supplier;

/**
 * What an adapter knows of the process and session it works for.
 *
 * <p>Threading: immutable; the reactor has its own rules.
 *
 * @param sessionId the session's name, equal in all its processes and unlike any other's: letters, digits, dashes
 * @param self this process
 * @param secret what proves membership to a peer; not to be logged or changed
 * @param guarded whether the session was given a secret to make that of; if not, other users of this host could find it out,
 *     and nothing may listen where other hosts come
 * @param reactor where events that end the engine's sleep are registered
 * @param logger control path only
 * @param memory the session's memory, for modules that register it
 * @param demands makes a {@link Demand} each time, of an adapter that has to go on though nobody waits
 */
@SuppressWarnings("ArrayRecordComponent") // contexts are never compared
public record ProcessContext(
        String sessionId,
        ProcessIdentity self,
        byte[] secret,
        boolean guarded,
        Reactor reactor,
        Logger logger,
        SessionMemory memory,
        Supplier<Demand> demands) {
    /** Of a process whose adapters are polled by hand. */
    public ProcessContext(
            String sessionId,
            ProcessIdentity self,
            byte[] secret,
            boolean guarded,
            Reactor reactor,
            Logger logger,
            SessionMemory memory) {
        this(sessionId, self, secret, guarded, reactor, logger, memory, Demand::unheard);
    }

    /** Of a session with a secret, and without memory of its own. */
    public ProcessContext(String sessionId, ProcessIdentity self, byte[] secret, Reactor reactor, Logger logger) {
        this(sessionId, self, secret, true, reactor, logger, SessionMemory.none());
    }

    /** Without memory of its own. */
    public ProcessContext(
            String sessionId, ProcessIdentity self, byte[] secret, boolean guarded, Reactor reactor, Logger logger) {
        this(sessionId, self, secret, guarded, reactor, logger, SessionMemory.none());
    }

    /** A demand of one adapter, which is not held. */
    public Demand newDemand() {
        return demands.get();
    }
}
