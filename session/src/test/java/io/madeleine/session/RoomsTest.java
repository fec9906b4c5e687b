package io.madeleine.session;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rooms of this module, which have one direction. */
class RoomsTest {
    private static final String SESSION = "io.madeleine.session";

    /** From the highest to the lowest: each may use those after it. */
    private static final List<String> ROOMS =
            List.of(SESSION, SESSION + ".launch", SESSION + ".network", SESSION + ".bootstrap", SESSION + ".config");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(SESSION);

    @Test
    void shouldUseNoRoomAboveIt() {
        for (int i = 1; i < ROOMS.size(); i++) {
            noClasses()
                    .that()
                    .resideInAPackage(ROOMS.get(i))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(ROOMS.subList(0, i).toArray(String[]::new))
                    .check(CLASSES);
        }
    }

    @Test
    void shouldNameAllRooms() {
        TreeSet<String> found =
                CLASSES.stream().map(one -> one.getPackageName()).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(ROOMS), found);
    }
}
