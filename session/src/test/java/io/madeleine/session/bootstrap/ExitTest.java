package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A shell's convention: 128 and the number of a signal, of which there are 64; other codes are the program's own. */
class ExitTest {
    @ParameterizedTest
    @CsvSource({"0", "1", "128", "193", "254", "255"})
    void shouldTakeTheCodeOfNoSignalForAnExitOfTheProgramsOwn(int code) {
        Exit exit = new Exit(17, "h", false, OptionalInt.of(code));
        assertEquals(true, exit.byItself());
        assertEquals("it exited without closing its session (process 17 on h, exit code " + code + ")", exit.reason());
        assertEquals("with exit code " + code, Exit.describe(code));
        assertEquals(
                "rank 3 exited without closing its session (process 17 on h, exit code " + code + ")",
                Exit.sentence(3, "died", exit.reason()));
    }

    @ParameterizedTest
    @CsvSource({"129, 1", "137, 9", "192, 64"})
    void shouldTakeTheCodeOfASignalForADeath(int code, int signal) {
        Exit exit = new Exit(17, "h", true, OptionalInt.of(code));
        assertEquals(false, exit.byItself());
        assertEquals("its process ended by signal " + signal + " (process 17 on h)", exit.reason());
        assertEquals("by signal " + signal, Exit.describe(code));
        assertEquals(
                "rank 3 died: its process ended by signal " + signal + " (process 17 on h)",
                Exit.sentence(3, "died", exit.reason()));
    }

    @Test
    void shouldBelieveAnAnnouncementIfNobodyKnowsTheCode() {
        Exit announced = new Exit(17, "h", true, OptionalInt.empty());
        assertEquals(true, announced.byItself());
        assertEquals("it exited without closing its session (process 17 on h)", announced.reason());
        Exit unknown = new Exit(17, "h", false, OptionalInt.empty());
        assertEquals(false, unknown.byItself());
        assertEquals("its process ended (process 17 on h)", unknown.reason());
    }
}
