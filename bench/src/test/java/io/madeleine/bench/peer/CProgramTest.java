package io.madeleine.bench.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.pmm.WaitMode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class CProgramTest {
    @Test
    void shouldSayWhichPackagesAreMissing() {
        NativePeer peer = new NativePeer(
                "mpich",
                new NativePeer.Kit(
                        new CProgram("no-such-compiler", "mpi"), "mpich and libmpich-dev", Optional.empty(), List.of()),
                new Conditions(WaitMode.SPIN, false),
                Variant.PLAIN,
                new PrintWriter(new StringWriter()));
        assertEquals(
                Optional.of("there is no command no-such-compiler: install the Debian packages mpich and libmpich-dev"
                        + " (apt-get install mpich libmpich-dev)"),
                peer.absence());
    }

    @Test
    void shouldCompileOnceAndKeepTheProgramForItsUserAlone() throws Exception {
        Assumptions.assumeTrue(CProgram.find("gcc").isPresent());
        Path program = new CProgram("gcc", "tcp").build();
        var modified = Files.getLastModifiedTime(program);
        assertEquals(program, new CProgram("gcc", "tcp").build());
        assertEquals(modified, Files.getLastModifiedTime(program));
        assertEquals(3, Files.getPosixFilePermissions(program.getParent()).size());
    }

    @Test
    void shouldTellWhatTheCompilerSaid() {
        Assumptions.assumeTrue(CProgram.find("gcc").isPresent());
        Exception e = assertThrows(MeasuringException.class, () -> new CProgram("gcc", "mpi-not-there").build());
        assertTrue(e.getMessage().contains("mpi-not-there.c"), e.getMessage());
    }
}
