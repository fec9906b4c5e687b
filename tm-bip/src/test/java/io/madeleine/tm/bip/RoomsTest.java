package io.madeleine.tm.bip;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.madeleine.pmm.spi.Blocks;
import org.junit.jupiter.api.Test;

/** The packages of this module are rooms, and each uses only rooms below it. */
class RoomsTest {
    private static final String BIP = "io.madeleine.tm.bip";

    private static JavaClasses main() {
        return new ClassFileImporter()
                .importUrl(BipPmm.class.getProtectionDomain().getCodeSource().getLocation());
    }

    @Test
    void shouldUseOnlyRoomsBelow() {
        layeredArchitecture()
                .consideringOnlyDependenciesInAnyPackage(BIP + "..")
                .layer("protocol")
                .definedBy(BIP + ".protocol")
                .layer("io")
                .definedBy(BIP + ".io")
                .layer("tls")
                .definedBy(BIP + ".tls")
                .layer("bip")
                .definedBy(BIP)
                .whereLayer("protocol")
                .mayNotAccessAnyLayer()
                .whereLayer("tls")
                .mayNotAccessAnyLayer()
                .whereLayer("io")
                .mayOnlyAccessLayers("protocol")
                .ensureAllClassesAreContainedInArchitecture()
                .check(main());
    }

    /** The protocol has no socket and no clock: so it runs in virtual time. */
    @Test
    void shouldKeepSocketsAndClocksOutOfTheProtocol() {
        com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses()
                .that()
                .resideInAPackage(BIP + ".protocol")
                .should()
                .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage(
                                "java.net", "java.nio.channels", "io.madeleine.pmm.spi", "io.madeleine.pmm.handshake")
                        .and(DescribedPredicate.not(JavaClass.Predicates.equivalentTo(Blocks.class)))) // copies bytes
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .check(main());
    }
}
