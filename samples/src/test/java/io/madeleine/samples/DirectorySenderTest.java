package io.madeleine.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectorySenderTest {
    @TempDir
    Path directory;

    private Path root;

    @BeforeEach
    void makeRoot() throws IOException {
        root = Files.createDirectory(directory.toRealPath().resolve("target"));
    }

    @Test
    void shouldAcceptNamesInside() throws IOException {
        assertEquals(root.resolve("a"), DirectorySender.inside(root, "a"));
        assertEquals(root.resolve("a/b c/..d"), DirectorySender.inside(root, "a/b c/..d"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", ".", "a//b", "a/", "a\\b", "a\0b"})
    void shouldRefuseNamesThatCouldLeaveTheTarget(String name) {
        assertThrows(IOException.class, () -> DirectorySender.inside(root, name));
    }

    @Test
    void shouldRefuseToFollowALinkThatIsThere() throws IOException {
        Files.createSymbolicLink(root.resolve("link"), directory);
        assertThrows(IOException.class, () -> DirectorySender.inside(root, "link/x"));
    }
}
