package io.madeleine.tm.via;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** The packages of this module are rooms, and each uses only rooms below it. */
class RoomsTest {
    private static final String VIA = "io.madeleine.tm.via";

    @Test
    void shouldUseOnlyRoomsBelow() {
        JavaClasses main = new ClassFileImporter()
                .importUrl(ViaPmm.class.getProtectionDomain().getCodeSource().getLocation());
        layeredArchitecture()
                .consideringOnlyDependenciesInAnyPackage(VIA + "..")
                .layer("ffi")
                .definedBy(VIA + ".ffi")
                .layer("port")
                .definedBy(VIA + ".port")
                .layer("link")
                .definedBy(VIA + ".link")
                .layer("remote")
                .definedBy(VIA + ".remote")
                .layer("via")
                .definedBy(VIA)
                .whereLayer("ffi")
                .mayNotAccessAnyLayer()
                .whereLayer("port")
                .mayOnlyAccessLayers("ffi")
                .whereLayer("link")
                .mayOnlyAccessLayers("port", "ffi")
                .whereLayer("remote")
                .mayOnlyAccessLayers("port", "ffi")
                .ensureAllClassesAreContainedInArchitecture()
                .check(main);
    }
}
