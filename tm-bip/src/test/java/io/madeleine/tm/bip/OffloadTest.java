package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.tm.bip.io.BatchPort;
import io.madeleine.tm.bip.io.DatagramPort;
import io.madeleine.tm.bip.io.NioPort;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where one system call sends and receives many datagrams. Runs without native access, and once more with it. */
class OffloadTest {
    private static final String GRANT = "--enable-native-access=";
    private static final String LOOPBACK = "127.0.0.1";
    private static final String ANY = "0.0.0.0";

    /** Skips a test where this process has no native access. */
    static void assumeGranted() {
        Availability found = Offload.ON.availability(LOOPBACK);
        assumeTrue(found.on(), found.text());
    }

    private static NioPort socket(String bind) {
        return new NioPort(new InetSocketAddress(bind, 0), 0, 0, "madeleine.tm.bip.adapters.default");
    }

    @Test
    void shouldUseTheEngineWhereNativeAccessIsGranted() {
        assumeGranted();
        try (DatagramPort port = Offload.AUTO.over(socket(ANY), ANY)) {
            assertInstanceOf(BatchPort.class, port);
        }
        try (DatagramPort port = Offload.ON.over(socket(LOOPBACK), LOOPBACK)) {
            assertInstanceOf(BatchPort.class, port);
        }
    }

    @Test
    void shouldSendOneByOneOnTheLoopbackDeviceUnlessTheConfigurationDemandsMore() {
        assumeGranted();
        for (String bind : List.of(LOOPBACK, "localhost", "::1")) {
            try (NioPort socket = socket(LOOPBACK)) {
                assertEquals(socket, Offload.AUTO.over(socket, bind), bind);
            }
        }
    }

    @Test
    void shouldSendOneByOneWithoutNativeAccess() {
        assumeFalse(Offload.ON.availability(ANY).on(), "native access is granted");
        try (NioPort socket = socket(ANY)) {
            assertEquals(socket, Offload.AUTO.over(socket, ANY));
        }
        String text = Offload.AUTO.availability(ANY).text();
        assertTrue(text.contains(GRANT), text);
    }

    @Test
    void shouldSayWhatIsMissingIfTheConfigurationDemandsIt() {
        assumeFalse(Offload.ON.availability(ANY).on(), "native access is granted");
        try (NioPort socket = socket(ANY)) {
            ConfigurationException e = assertThrows(ConfigurationException.class, () -> Offload.ON.over(socket, ANY));
            String text = String.valueOf(e.getMessage());
            assertTrue(text.contains("madeleine.tm.bip.offload") && text.contains(GRANT), text);
        }
    }

    @Test
    void shouldAskForNativeAccessOnlyWhereItIsUsed() {
        assertEquals(List.of(), BipSide.driver("").nativeModules());
        String any = "madeleine.tm.bip.adapters.default.bind = " + ANY + "\n";
        assertEquals(List.of("io.madeleine.linux"), BipSide.driver(any).nativeModules());
        assertEquals(
                List.of(),
                BipSide.driver(any + "madeleine.tm.bip.offload = off").nativeModules());
        assertEquals(
                List.of(),
                BipSide.driver(any + "madeleine.tm.bip.enabled = false").nativeModules());
        assertEquals(
                List.of("io.madeleine.linux"),
                BipSide.driver("madeleine.tm.bip.offload = on").nativeModules());
    }
}
