package io.madeleine.testkit.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The suite of messages has all parts, and none of their tests hides another. */
class MessagePartsTest {
    private static List<Class<?>> parts() throws Exception {
        Class<?> suite = AbstractMessageContractTest.class;
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
            assertTrue(part.isAssignableFrom(AbstractMessageContractTest.class), part.getName());
        }
    }

    @Test
    void shouldRunEachTestOfEachPart() throws Exception {
        for (Class<?> part : parts()) {
            for (Method test : part.getDeclaredMethods()) {
                if (test.isAnnotationPresent(Test.class)) {
                    assertEquals(test, AbstractMessageContractTest.class.getMethod(test.getName()));
                }
            }
        }
    }
}
