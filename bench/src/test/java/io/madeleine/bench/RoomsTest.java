package io.madeleine.bench;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/** The packages of this module are rooms, and each uses only rooms below it. */
class RoomsTest {
    private static final String BENCH = "io.madeleine.bench";

    private static JavaClasses main() {
        return new ClassFileImporter()
                .importUrl(PerfTool.class.getProtectionDomain().getCodeSource().getLocation());
    }

    @Test
    void shouldUseOnlyRoomsBelow() {
        layeredArchitecture()
                .consideringOnlyDependenciesInAnyPackage(BENCH + "..")
                .layer("measure")
                .definedBy(BENCH + ".measure")
                .layer("mpi")
                .definedBy(BENCH + ".mpi")
                .layer("peer")
                .definedBy(BENCH + ".peer")
                .layer("report")
                .definedBy(BENCH + ".report")
                .layer("history")
                .definedBy(BENCH + ".history")
                .layer("experiment")
                .definedBy(BENCH + ".experiment")
                .layer("tools")
                .definedBy(BENCH, BENCH + ".jmh_generated..")
                .whereLayer("measure")
                .mayNotAccessAnyLayer()
                .whereLayer("report")
                .mayNotAccessAnyLayer()
                .whereLayer("peer")
                .mayOnlyAccessLayers("measure", "mpi")
                .whereLayer("mpi")
                .mayOnlyAccessLayers("measure")
                .whereLayer("history")
                .mayOnlyAccessLayers("report")
                .whereLayer("experiment")
                .mayOnlyAccessLayers("report")
                .ensureAllClassesAreContainedInArchitecture()
                .check(main());
    }
}
