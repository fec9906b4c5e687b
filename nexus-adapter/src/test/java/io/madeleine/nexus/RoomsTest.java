package io.madeleine.nexus;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rooms of the module: what they may use of each other, and that users see the first only. */
class RoomsTest {
    private static final String CORE = "io.madeleine.nexus";
    private static final String WIRE = "io.madeleine.nexus.wire";
    private static final String CODEC = "io.madeleine.nexus.codec";
    private static final String WAN = "io.madeleine.nexus.wan";

    private static final URL PLACE =
            Context.class.getProtectionDomain().getCodeSource().getLocation();

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importUrl(PLACE);

    private static final DescribedPredicate<JavaClass> OF_THE_MODULE = resideInAPackage(CORE + "..");

    private static final DescribedPredicate<JavaClass> INTERNALS_OF_THE_CORE =
            describe("internals of the core", each -> each.getPackageName().equals(CORE) && !isPublic(each));

    /** Whether users see it, with all classes that it is nested in. */
    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(RoomsTest::isPublic).orElse(true);
    }

    @Test
    void shouldKeepTheInternalsOfTheCoreFromTheOtherRooms() {
        noClasses()
                .that()
                .resideInAnyPackage(WIRE, CODEC, WAN)
                .should()
                .dependOnClassesThat(INTERNALS_OF_THE_CORE)
                .check(MAIN);
    }

    @Test
    void shouldLetTheLayoutOfRequestsUseNoOtherRoomButPublicTypes() {
        classesOf(WIRE, WIRE, CORE);
    }

    @Test
    void shouldLetCodecsUseNoOtherRoomButTheLayoutAndPublicTypes() {
        classesOf(CODEC, CODEC, WIRE, CORE);
    }

    @Test
    void shouldLetWideAreaConnectionsUseNothingOfContextsAndRequests() {
        classesOf(WAN, WAN);
    }

    private static void classesOf(String room, String... used) {
        classes()
                .that()
                .resideInAPackage(room)
                .should()
                .onlyDependOnClassesThat(not(OF_THE_MODULE).or(resideInAnyPackage(used)))
                .check(MAIN);
    }

    @Test
    void shouldKnowEveryRoom() {
        assertEquals(
                Set.of(CORE, WIRE, CODEC, WAN),
                MAIN.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()));
    }

    @Test
    void shouldExportTheFirstRoomOnly() throws Exception {
        try (InputStream descriptor =
                PLACE.toURI().resolve("module-info.class").toURL().openStream()) {
            assertNotNull(descriptor);
            assertEquals(
                    List.of(CORE),
                    ModuleDescriptor.read(descriptor).exports().stream()
                            .map(ModuleDescriptor.Exports::source)
                            .toList());
        }
    }
}
