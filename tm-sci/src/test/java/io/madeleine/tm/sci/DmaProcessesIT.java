package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.link.SingleCopy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Two processes that read each other's memory, and one that can and one that cannot; run without native access, two
 * that would if they could. Those do what {@link SciProcessesIT} has, and what the one that cannot does.
 */
@EnabledIf(value = "isToRun", disabledReason = "without native access only with -Pthorough")
class DmaProcessesIT extends SciProcessesIT {
    private static final int BYTES = 5_000_003;
    private static final List<String> DROP =
            List.of("setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace");

    static boolean isToRun() {
        return Boolean.getBoolean("thorough")
                || DmaProcessesIT.class.getModule().isNativeAccessEnabled();
    }

    private List<String> flags =
            SingleCopy.availability().on() ? List.of("--enable-native-access=ALL-UNNAMED") : List.of();

    private List<String> prefix = List.of();
    private List<String> otherChannels = List.of();
    private ProcessBuilder.Redirect errors = ProcessBuilder.Redirect.INHERIT;

    @Override
    List<String> prefix() {
        return prefix;
    }

    @Override
    List<String> otherChannels() {
        return otherChannels;
    }

    @Override
    ProcessBuilder.Redirect errors() {
        return errors;
    }

    @Override
    String settings() {
        return Side.SINGLE_COPY;
    }

    @Override
    List<String> flags() {
        return flags;
    }

    @Test
    void shouldEchoWhereOnlyOneSideHasNativeAccess() throws Exception {
        flags = List.of();
        shouldEchoBetweenProcessesThatSleep();
    }

    /**
     * The kernel's own refusal: a process without the capability to trace may not read one that has more than itself.
     * All of its connections go on through cells, and it says so once.
     */
    @Test
    void shouldFallBackWithOneMessageWhereTheSystemForbidsToRead() throws Exception {
        assumeTrue(SingleCopy.availability().on(), SingleCopy.availability().reason());
        assumeTrue(mayDropCapabilities(), "only root can take a capability from a process it starts (setpriv)");
        prefix = DROP;
        otherChannels = List.of("more", "most");
        Path said = directory.resolveSibling(directory.getFileName() + ".errors");
        errors = ProcessBuilder.Redirect.to(said.toFile());
        try {
            shouldEchoBetweenProcessesThatSleep();
            List<String> warnings = Files.readAllLines(said).stream()
                    .filter(line -> line.contains("no single copy"))
                    .toList();
            assertEquals(1, warnings.size(), Files.readString(said));
            assertTrue(warnings.getFirst().contains("from process 1"), warnings.getFirst());
            assertTrue(warnings.getFirst().contains("(EPERM)"), warnings.getFirst());
        } finally {
            Files.deleteIfExists(said);
        }
    }

    private static boolean mayDropCapabilities() throws Exception {
        List<String> command = new ArrayList<>(DROP);
        command.add("true");
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException _) {
            return false; // there is no setpriv
        }
    }

    @Test
    void shouldReleaseASenderWhoseBlockIsLentToAProcessThatDies() throws Exception {
        with((side, connection, listener, peer) -> {
            DynamicLink link = (DynamicLink) connection.links().getLast();
            BufferGroup group = Side.group(pattern(BYTES, 1));
            long header = PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST | PacketHeader.LAST);
            stop(peer);
            assertEquals(LinkStatus.PENDING, link.send(header, group, 0));
            peer.destroyForcibly();
            while (link.send(header, group, 0) == LinkStatus.PENDING) {
                assertFalse(side.sleepIsLost());
                side.round();
            }
            assertEquals("false its process ended", listener.lost);
            assertFalse(group.isEmpty());
            peer.waitFor();
        });
        assertEmpty();
    }

    @Test
    void shouldNotHangOnALoanOfAProcessThatDies() throws Exception {
        with((side, connection, listener, peer) -> {
            DynamicLink link = (DynamicLink) connection.links().getLast();
            BufferGroup group = Side.group(pattern(BYTES, 1));
            while (link.send(PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST | PacketHeader.LAST), group, 0)
                    == LinkStatus.PENDING) {
                side.round();
            }
            TransmissionLink back = connection.links().getLast();
            while (back.front() == 0) {
                side.round();
            }
            stop(peer); // it has offered its answer, and grants nothing any more
            BufferGroup wanted = Side.group(Arena.ofAuto().allocate(BYTES));
            while (back.receive(wanted, BYTES) > 0) {
                // what it granted before
            }
            peer.destroyForcibly().waitFor();
            while (listener.lost == null) {
                side.round();
            }
            while (back.receive(wanted, wanted.remainingBytes()) > 0) {
                // what had arrived
            }
            assertTrue(wanted.remainingBytes() > 0, "more arrived than was granted");
            assertEquals("false its process ended", listener.lost);
        });
        assertEmpty();
    }

    private static void stop(Process peer) throws Exception {
        new ProcessBuilder("kill", "-STOP", Long.toString(peer.pid())).start().waitFor();
    }
}
