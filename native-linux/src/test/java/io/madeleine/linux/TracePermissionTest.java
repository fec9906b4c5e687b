package io.madeleine.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TracePermissionTest {
    @TempDir
    Path directory;

    private Optional<String> forbidden(String scope, String capabilities) throws IOException {
        Path scopeFile = Files.writeString(directory.resolve("ptrace_scope"), scope + "\n");
        Path status = Files.writeString(
                directory.resolve("status"), "Name:\tjava\nCapPrm:\tffff\nCapEff:\t" + capabilities + "\n");
        return new TracePermission(scopeFile, status).forbidden();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0000000000000000, true",
        "1, 0000000000000000, false",
        "1, 0000000000080000, true",
        "2, 000001fffff7ffff, false",
        "2, 000001ffffffffff, true",
        "3, 000001ffffffffff, false"
    })
    void shouldGoByYamaAndByWhatTheProcessIsCapableOf(String scope, String capabilities, boolean permitted)
            throws IOException {
        Optional<String> forbidden = forbidden(scope, capabilities);
        assertEquals(permitted, forbidden.isEmpty(), forbidden.toString());
        forbidden.ifPresent(reason -> assertTrue(reason.contains("ptrace_scope is " + scope), reason));
    }

    @Test
    void shouldTakeASystemWithoutYamaForPermissive() {
        Path none = directory.resolve("none");
        assertEquals(Optional.empty(), new TracePermission(none, none).forbidden());
    }
}
