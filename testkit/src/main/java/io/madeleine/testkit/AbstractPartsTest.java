package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The test of a suite that consists of parts: it has all of them, and none of their tests hides another. */
public abstract class AbstractPartsTest {
    private final Class<?> suite;

    /**
     * A test of a suite.
     *
     * @param suite the class that has all parts, the interfaces of its package whose names end with "Contract"; it lies
     *     in a folder, not in a jar
     */
    protected AbstractPartsTest(Class<?> suite) {
        this.suite = suite;
    }

    private List<Class<?>> parts() throws Exception {
        Path classes = Path.of(suite.getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .resolve(suite.getPackageName().replace('.', '/'));
        List<Class<?>> parts = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes)) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith("Contract.class")) {
                    parts.add(Class.forName(suite.getPackageName() + "." + name.replace(".class", "")));
                }
            }
        }
        return parts;
    }

    @Test
    void shouldHaveAllParts() throws Exception {
        assertTrue(parts().size() > 1);
        for (Class<?> part : parts()) {
            assertTrue(part.isAssignableFrom(suite), part.getName());
        }
    }

    @Test
    void shouldRunEachTestOfEachPart() throws Exception {
        for (Class<?> part : parts()) {
            for (Method test : part.getDeclaredMethods()) {
                if (test.isAnnotationPresent(Test.class)) {
                    assertEquals(test, suite.getMethod(test.getName()));
                }
            }
        }
    }
}
