package io.madeleine.tm.sci;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** The packages of this module are rooms, and each uses only rooms below it. */
class RoomsTest {
    private static final String SCI = "io.madeleine.tm.sci";

    @Test
    void shouldUseOnlyRoomsBelow() {
        JavaClasses main = new ClassFileImporter()
                .importUrl(SciPmm.class.getProtectionDomain().getCodeSource().getLocation());
        layeredArchitecture()
                .consideringOnlyDependenciesInAnyPackage(SCI + "..")
                .layer("memory")
                .definedBy(SCI + ".memory")
                .layer("files")
                .definedBy(SCI + ".files")
                .layer("wake")
                .definedBy(SCI + ".wake")
                .layer("shared")
                .definedBy(SCI + ".shared")
                .layer("link")
                .definedBy(SCI + ".link")
                .layer("sci")
                .definedBy(SCI)
                .whereLayer("memory")
                .mayNotAccessAnyLayer()
                .whereLayer("files")
                .mayOnlyAccessLayers("memory")
                .whereLayer("wake")
                .mayOnlyAccessLayers("files", "memory")
                .whereLayer("shared")
                .mayOnlyAccessLayers("files", "memory")
                .whereLayer("link")
                .mayOnlyAccessLayers("shared", "wake", "files", "memory")
                .ensureAllClassesAreContainedInArchitecture()
                .check(main);
    }
}
