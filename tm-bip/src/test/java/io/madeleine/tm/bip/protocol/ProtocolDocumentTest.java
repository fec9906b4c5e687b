package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** PROTOCOL.md says what the code does. */
class ProtocolDocumentTest {
    private static final Pattern CONSTANT = Pattern.compile("`(\\w+)\\.([A-Z_]+)` \\| (\\d+) \\|");

    private static String document() throws IOException {
        return Files.readString(Path.of("PROTOCOL.md"));
    }

    private static long value(String className, String field) throws ReflectiveOperationException {
        Field found = Class.forName(ProtocolDocumentTest.class.getPackageName() + "." + className)
                .getDeclaredField(field);
        found.setAccessible(true);
        return ((Number) found.get(null)).longValue();
    }

    @Test
    void shouldStateTheValuesOfTheCode() throws Exception {
        List<String> differences = new ArrayList<>();
        Matcher rows = CONSTANT.matcher(document());
        int count = 0;
        while (rows.find()) {
            count++;
            long found = value(rows.group(1), rows.group(2));
            if (found != Long.parseLong(rows.group(3))) {
                differences.add(
                        rows.group(1) + "." + rows.group(2) + " is " + found + ", documented as " + rows.group(3));
            }
        }
        assertTrue(count > 50, count + " constants found in the tables");
        assertEquals(List.of(), differences);
    }

    @Test
    void shouldListEveryConstantOfTheWire() throws Exception {
        Set<String> documented = new TreeSet<>();
        Matcher rows = CONSTANT.matcher(document());
        while (rows.find()) {
            if (rows.group(1).equals("DatagramLayout")) {
                documented.add(rows.group(2));
            }
        }
        Set<String> present = new TreeSet<>();
        for (Field field : DatagramLayout.class.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers())) {
                present.add(field.getName());
            }
        }
        assertEquals(present, documented);
    }
}
