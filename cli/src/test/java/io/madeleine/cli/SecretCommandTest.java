package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretCommandTest {
    @TempDir
    Path directory;

    @Test
    void shouldPrintAnotherSecretEachTime() {
        CommandLineRun one = CommandLineRun.of("secret");
        CommandLineRun two = CommandLineRun.of("secret");
        assertEquals(0, one.code(), one.err());
        assertTrue(one.out().matches("[0-9a-f]{64}\\n"), one.out());
        assertNotEquals(one.out(), two.out());
    }

    @Test
    void shouldWriteAFileThatOnlyItsOwnerCanReadAndOverwriteNone() throws Exception {
        Path file = directory.resolve("cluster.secret");
        CommandLineRun made = CommandLineRun.of("secret", file.toString());
        assertEquals(0, made.code(), made.err());
        assertEquals("", made.out());
        String secret = Files.readString(file);
        assertTrue(secret.matches("[0-9a-f]{64}\\n"), secret);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        CommandLineRun again = CommandLineRun.of("secret", file.toString());
        assertEquals(Mad.FAILURE, again.code());
        assertTrue(again.err().contains("is there already"), again.err());
        assertEquals(secret, Files.readString(file));
    }

    @Test
    void shouldSayThatTheFolderOfTheFileDoesNotExist() {
        Path file = directory.resolve("missing/cluster.secret");
        CommandLineRun run = CommandLineRun.of("secret", file.toString());
        assertEquals(Mad.FAILURE, run.code());
        assertEquals(
                "mad secret: " + file + " cannot be written: there is no folder " + file.getParent() + "\n", run.err());
    }
}
