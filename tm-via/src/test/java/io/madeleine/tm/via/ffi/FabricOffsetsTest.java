package io.madeleine.tm.via.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The binding agrees with the headers of the installed libfabric, as a C program sees them. */
class FabricOffsetsTest {
    private static final List<String> HEADERS = List.of(
            "fabric.h",
            "fi_domain.h",
            "fi_endpoint.h",
            "fi_cm.h",
            "fi_rma.h",
            "fi_tagged.h",
            "fi_atomic.h",
            "fi_errno.h",
            "fi_eq.h");

    @TempDir
    Path directory;

    private static List<Field> constants(Class<?> type) {
        return List.of(type.getDeclaredFields()).stream()
                .filter(field -> !field.isSynthetic())
                .toList();
    }

    private static String struct(Class<?> type) {
        return type.getSimpleName().replaceAll("([a-z])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }

    private static String name(Class<?> struct, Field field) {
        return struct(struct) + "." + field.getName().toLowerCase(Locale.ROOT);
    }

    /** What the binding believes, one line each. */
    private static List<String> believed() throws IllegalAccessException {
        List<String> lines = new ArrayList<>();
        for (Class<?> struct : Offsets.class.getDeclaredClasses()) {
            for (Field field : constants(struct)) {
                field.setAccessible(true);
                lines.add(name(struct, field) + " " + field.getInt(null));
            }
        }
        for (Field field : constants(Flags.class)) {
            lines.add(field.getName() + " " + ((Number) field.get(null)).longValue());
        }
        return lines;
    }

    private static String program() {
        StringBuilder text = new StringBuilder("#include <stdio.h>\n#include <stddef.h>\n");
        HEADERS.forEach(header -> text.append("#include <rdma/").append(header).append(">\n"));
        text.append("int main(void) {\n");
        for (Class<?> struct : Offsets.class.getDeclaredClasses()) {
            for (Field field : constants(struct)) {
                String member = field.getName().toLowerCase(Locale.ROOT);
                text.append("printf(\"")
                        .append(name(struct, field))
                        .append(" %zu\\n\", offsetof(struct ")
                        .append(struct(struct))
                        .append(", ")
                        .append(member)
                        .append("));\n");
            }
        }
        for (Field field : constants(Flags.class)) {
            text.append("printf(\"")
                    .append(field.getName())
                    .append(" %lld\\n\", (long long)")
                    .append(field.getName())
                    .append(");\n");
        }
        return text.append("return 0;\n}\n").toString();
    }

    private static String output(Path directory, String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(directory, "output", "");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it takes too long: " + String.join(" ", command));
        String text = Files.readString(output);
        assertEquals(0, process.exitValue(), text);
        return text;
    }

    @Test
    void shouldUseTheOffsetsAndConstantsOfTheInstalledHeaders() throws Exception {
        assumeTrue(Files.exists(Path.of("/usr/include/rdma/fabric.h")), "no headers (package libfabric-dev)");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no C compiler (package gcc)");
        Path source = Files.writeString(directory.resolve("offsets.c"), program());
        Path binary = directory.resolve("offsets");
        output(directory, "/usr/bin/gcc", "-o", binary.toString(), source.toString());
        List<String> found = output(directory, binary.toString()).lines().toList();
        assertTrue(found.size() > 60, () -> "only " + found.size() + " offsets and constants");
        assertEquals(String.join("\n", believed()), String.join("\n", found));
    }
}
