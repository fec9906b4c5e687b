package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionException;
import io.madeleine.mpi.device.DeviceSettings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A start without a session. */
class InitTest {
    private static final String PREFIX = "MPI.Init cannot open the session: ";

    private static MPIException failure(Map<String, String> settings, Executable start) {
        settings.forEach(System::setProperty);
        try {
            return assertThrows(MPIException.class, start);
        } finally {
            settings.keySet().forEach(System::clearProperty);
        }
    }

    private static void open() {
        Environment _ = Environment.open(DeviceSettings.from(new Properties()), new Intracomm(), new Intracomm());
    }

    @Test
    void shouldNameTheSettingThatIsWrong() {
        Map<String, String> wrong = Map.of("madeleine.wait.mode", "sometimes");
        MPIException seen = failure(wrong, InitTest::open);
        assertEquals(MPI.ERR_ARG, seen.getErrorClass());
        Throwable cause = assertInstanceOf(ConfigurationException.class, seen.getCause());
        assertEquals(PREFIX + cause.getMessage(), seen.getMessage());
        assertTrue(seen.getMessage().contains("madeleine.wait.mode"), seen.getMessage());
    }

    @Test
    void shouldSayWhomItDidNotReach() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Map<String, String> lonely = Map.of(
                "madeleine.session.hosts",
                "127.0.0.1:" + port + ", 127.0.0.1",
                "madeleine.session.rank",
                "1",
                "madeleine.session.open-timeout",
                "500ms");
        MPIException seen = failure(lonely, InitTest::open);
        assertEquals(MPI.ERR_OTHER, seen.getErrorClass());
        Throwable cause = assertInstanceOf(SessionException.class, seen.getCause());
        assertEquals(PREFIX + cause.getMessage(), seen.getMessage());
        assertTrue(seen.getMessage().contains("127.0.0.1:" + port), seen.getMessage());
    }
}
