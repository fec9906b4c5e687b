package io.madeleine.pmm.spi;

import java.lang.System.Logger;
import java.util.function.Supplier;

/**
 * What an adapter knows of the process and session that it works for.
 *
 * <p>Threading: immutable; {@link Reactor} states its own rules.
 *
 * @param sessionId the session's unique name, equal in all its processes: letters, digits, dashes
 * @param self this process
 * @param secret the key that proves membership to a peer; do not log or change it
 * @param secretConfigured whether the secret derives from one that the user configured; if not, other users of this
 *     host could find it out, and nothing may listen on addresses that other hosts reach
 * @param reactor where adapters register the events that end the engine's sleep
 * @param logger for the control path only
 * @param memory the session's memory, for modules that register it
 * @param demands makes a new {@link Demand} at each call, for an adapter that needs progress while no thread waits
 */
@SuppressWarnings("ArrayRecordComponent") // contexts are never compared
public record ProcessContext(
        String sessionId,
        ProcessIdentity self,
        byte[] secret,
        boolean secretConfigured,
        Reactor reactor,
        Logger logger,
        SessionMemory memory,
        Supplier<Demand> demands) {
    /** A context of a process whose adapters are polled all the time. */
    public ProcessContext(
            String sessionId,
            ProcessIdentity self,
            byte[] secret,
            boolean secretConfigured,
            Reactor reactor,
            Logger logger,
            SessionMemory memory) {
        this(sessionId, self, secret, secretConfigured, reactor, logger, memory, Demand::noop);
    }

    /** A context of a session with a configured secret and without memory of its own. */
    public ProcessContext(String sessionId, ProcessIdentity self, byte[] secret, Reactor reactor, Logger logger) {
        this(sessionId, self, secret, true, reactor, logger, SessionMemory.none());
    }

    /** A context of a session without memory of its own. */
    public ProcessContext(
            String sessionId,
            ProcessIdentity self,
            byte[] secret,
            boolean secretConfigured,
            Reactor reactor,
            Logger logger) {
        this(sessionId, self, secret, secretConfigured, reactor, logger, SessionMemory.none());
    }

    /** Makes a demand, not held, for one adapter. */
    public Demand newDemand() {
        return demands.get();
    }
}
