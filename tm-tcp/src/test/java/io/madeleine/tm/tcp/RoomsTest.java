package io.madeleine.tm.tcp;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Which room of this module may use which. */
class RoomsTest {
    private static final String ROOT = "io.madeleine.tm.tcp";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT);

    @Test
    void shouldUseOnlyRoomsBelow() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("tcp")
                .definedBy(ROOT)
                .layer("stream")
                .definedBy(ROOT + ".stream")
                .layer("tls")
                .definedBy(ROOT + ".tls")
                .layer("io")
                .definedBy(ROOT + ".io")
                .layer("reactor")
                .definedBy(ROOT + ".reactor")
                .layer("config")
                .definedBy(ROOT + ".config")
                .layer("spi")
                .definedBy(ROOT + ".spi")
                .whereLayer("tcp")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("stream")
                .mayOnlyBeAccessedByLayers("tcp")
                .whereLayer("tls")
                .mayOnlyBeAccessedByLayers("tcp")
                .whereLayer("io")
                .mayOnlyBeAccessedByLayers("tcp", "stream", "tls")
                .whereLayer("reactor")
                .mayOnlyBeAccessedByLayers("tcp", "stream", "tls", "io")
                .whereLayer("config")
                .mayOnlyBeAccessedByLayers("tcp", "stream", "tls", "io", "reactor")
                .whereLayer("spi")
                .mayOnlyBeAccessedByLayers("tls", "tcp")
                .check(CLASSES);
    }

    /** It joins the parts of a connection, which know its reports, its poller or its end at most. */
    @Test
    void shouldLetNoPartOfAConnectionUseTheConnection() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".stream")
                .and()
                .doNotHaveFullyQualifiedName(ROOT + ".stream.TcpConnection")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName(ROOT + ".stream.TcpConnection")
                .check(CLASSES);
    }

    /** A further room has to be given its place above. */
    @Test
    void shouldHaveNoOtherRooms() {
        Set<String> rooms = CLASSES.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
        assertEquals(
                Set.of(
                        ROOT,
                        ROOT + ".stream",
                        ROOT + ".tls",
                        ROOT + ".io",
                        ROOT + ".reactor",
                        ROOT + ".config",
                        ROOT + ".spi"),
                rooms);
    }
}
