package io.madeleine.tm.bip;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.DatagramEngine;
import io.madeleine.tm.bip.io.BatchPort;
import io.madeleine.tm.bip.io.DatagramPort;
import io.madeleine.tm.bip.io.NioPort;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** Whether many datagrams travel by one system call: the values of {@code madeleine.tm.bip.offload}. */
public enum Offload {
    /**
     * Where the system and its permissions allow it, and it saves calls: not on the loopback device, which carries as
     * much in one datagram.
     */
    AUTO,
    /** In any case; an adapter that cannot does not open. */
    ON,
    /** Not at all: the JDK's channels suffice. */
    OFF;

    static final String KEY = BipConfig.PATH + ".offload";

    private static final Logger LOGGER = System.getLogger("io.madeleine.tm.bip");

    /** Looks for the engine once. */
    private static final class Engine {
        static final Optional<DatagramEngine> FOUND = ServiceLoader.load(
                        DatagramEngine.class, Offload.class.getClassLoader())
                .findFirst();
    }

    /** Whether this process can send and receive this way from an address, as far as it shows without a socket. */
    Availability availability(String bind) {
        if (this == OFF) {
            return Availability.off("switched off by " + KEY);
        }
        if (this == AUTO && isLoopback(bind)) {
            return Availability.off("the loopback device carries long datagrams");
        }
        return Engine.FOUND
                .map(DatagramEngine::availability)
                .orElseGet(() -> Availability.off("no engine is on the path; madeleine-native-linux has one"));
    }

    private static boolean isLoopback(String bind) {
        try {
            return InetAddress.ofLiteral(bind).isLoopbackAddress();
        } catch (IllegalArgumentException _) {
            return bind.equals("localhost");
        }
    }

    /** The Java modules that need native access for it, for sockets that are bound to these addresses. */
    List<String> nativeModules(Collection<String> binds) {
        boolean isUsed = this == ON || this == AUTO && !binds.stream().allMatch(Offload::isLoopback);
        return isUsed ? Engine.FOUND.map(DatagramEngine::nativeModules).orElse(List.of()) : List.of();
    }

    /**
     * The port to use over a socket: the socket itself if its datagrams travel one by one.
     *
     * @param bind the address to which it is bound, as configured
     * @throws ConfigurationException if the configuration demands an engine and none can be used
     */
    DatagramPort over(NioPort socket, String bind) {
        Availability availability = availability(bind);
        String reason = availability.text();
        if (availability.on()) {
            try {
                return new BatchPort(socket, Engine.FOUND.orElseThrow());
            } catch (IllegalStateException e) {
                reason = String.valueOf(e.getMessage());
            }
        }
        if (this == ON) {
            throw new ConfigurationException(
                    KEY + " is on, and datagrams can only travel one by one: " + reason + "; auto or off permits that");
        }
        LOGGER.log(Level.DEBUG, "datagrams of {0} travel one by one: {1}", socket.address(), reason);
        return socket;
    }
}
