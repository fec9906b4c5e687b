package mpi;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rooms of the module: dependencies go one way, and the engine keeps no state in statics. */
class RoomsTest {
    private static final String ERRORS = "io.madeleine.mpi";
    private static final String DEVICE = "io.madeleine.mpi.device";
    private static final String DATATYPES = "io.madeleine.mpi.datatypes";
    private static final String COMM = "io.madeleine.mpi.comm";
    private static final String COLLECTIVES = "io.madeleine.mpi.collectives";
    private static final String REPORT = "io.madeleine.mpi.report";
    private static final String CREATION = "io.madeleine.mpi.creation";

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importUrl(MPI.class.getProtectionDomain().getCodeSource().getLocation());

    private static void classesOf(String room, String... used) {
        classes()
                .that()
                .resideInAPackage(room)
                .should()
                .onlyDependOnClassesThat(not(resideInAnyPackage("io.madeleine.mpi..", "mpi..", "mpjbuf.."))
                        .or(resideInAnyPackage(used)))
                .check(MAIN);
    }

    @Test
    void shouldLetEachRoomUseThoseBelowItOnly() {
        classesOf(ERRORS, ERRORS);
        classesOf(DEVICE, DEVICE, ERRORS);
        classesOf(REPORT, REPORT);
        classesOf(DATATYPES, DATATYPES, DEVICE, ERRORS);
        classesOf(COMM, COMM, DEVICE, ERRORS);
        classesOf(COLLECTIVES, COLLECTIVES, COMM, DATATYPES, DEVICE, ERRORS);
        classesOf(CREATION, CREATION, COLLECTIVES, COMM, DEVICE, ERRORS);
    }

    /** Parts know those below them: a part gets what it uses by its constructor, and nobody hands out parts. */
    @Test
    void shouldHaveNoCirclesOfClasses() {
        slices().assignedFrom(new SliceAssignment() {
                    @Override
                    public String getDescription() {
                        return "each top-level class of the engine";
                    }

                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass one) {
                        return one.getPackageName().startsWith(ERRORS)
                                ? SliceIdentifier.of(one.getName().replaceFirst("[$\\[].*", ""))
                                : SliceIdentifier.ignore();
                    }
                })
                .should()
                .beFreeOfCycles()
                .check(MAIN);
    }

    @Test
    void shouldKnowEveryRoom() {
        assertEquals(
                Set.of(ERRORS, DEVICE, DATATYPES, COMM, COLLECTIVES, CREATION, REPORT, "mpi", "mpjbuf"),
                MAIN.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()));
    }

    @Test
    void shouldKeepNoStateOfTheEngineInStatics() {
        noFields()
                .that()
                .areDeclaredInClassesThat(resideInAPackage("io.madeleine.mpi.."))
                .and()
                .areStatic()
                .should()
                .notBeFinal()
                .check(MAIN);
    }
}
