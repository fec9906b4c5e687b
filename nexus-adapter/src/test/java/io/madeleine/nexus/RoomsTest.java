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
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rooms of the module: what they may use of each other, and that users see the first only. */
class RoomsTest {
    private static final String CORE = "io.madeleine.nexus";
    private static final String WIRE = "io.madeleine.nexus.wire";
    private static final String CODEC = "io.madeleine.nexus.codec";
    private static final String WAN = "io.madeleine.nexus.wan";

    private static final URL PLACE =
            Context.class.getProtectionDomain().getCodeSource().getLocation();

    /** All classes of the module while these tests run: tens of megabytes, and the heap of the tests is small. */
    private static JavaClasses main = new ClassFileImporter().importClasses();

    @BeforeAll
    static void read() {
        main = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importUrl(PLACE);
    }

    @AfterAll
    static void forget() {
        main = new ClassFileImporter().importClasses();
    }

    /**
     * The internals in the package of the public types. They use members of public types that users do not see, which
     * a package of their own would have to make public.
     */
    private static final Map<String, Set<String>> INTERNALS = Map.of(
            "requests",
            Set.of(
                    "ArgumentCopies",
                    "Barrier",
                    "BlockingWatch",
                    "ChannelRoute",
                    "CodingException",
                    "Endpoints",
                    "FailureReports",
                    "Grants",
                    "Inbound",
                    "NextContext",
                    "Node",
                    "NodeListener",
                    "Nodes",
                    "Peer",
                    "PendingConnects",
                    "Receiver",
                    "Refusals",
                    "RefusedCalls",
                    "Route",
                    "RouteSource",
                    "ScopedValueSearch",
                    "Sneaky",
                    "SystemRequests",
                    "TooLargeException",
                    "Workers"),
            "services",
            Set.of(
                    "Answers",
                    "Calls",
                    "DefaultMethods",
                    "InboundCall",
                    "InboundCalls",
                    "ItemQueue",
                    "ParameterStream",
                    "PendingCall",
                    "Proxies",
                    "RetryPolicy",
                    "RetryingCall",
                    "Service",
                    "ServiceMethod",
                    "ServiceMethods",
                    "StreamCall",
                    "ItemSender",
                    "Sweeper",
                    "ExceptionCoding",
                    "Uploads"),
            "wide area",
            Set.of(
                    "Attaching",
                    "Connector",
                    "Greeting",
                    "IncrementalReader",
                    "WanAddress",
                    "WanLayout",
                    "WanReader",
                    "WanRoute",
                    "WanRoutes"));

    /** The public types that create the parts of a context, or lead into them. */
    private static final Set<String> ENTRY_POINTS =
            Set.of("Context", "Startpoint", "Endpoint", "AttachPoint", "Codecs");

    private static final DescribedPredicate<JavaClass> REQUESTS = internals("requests");
    private static final DescribedPredicate<JavaClass> SERVICES = internals("services");
    private static final DescribedPredicate<JavaClass> WIDE_AREA = internals("wide area");

    private static final DescribedPredicate<JavaClass> OF_THE_MODULE = resideInAPackage(CORE + "..");

    private static final DescribedPredicate<JavaClass> INTERNALS_OF_THE_CORE =
            describe("internals of the core", each -> each.getPackageName().equals(CORE) && !isPublic(each));

    /** Whether users see it, with all classes that it is nested in. */
    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(RoomsTest::isPublic).orElse(true);
    }

    /** The name of the class in the package of the public types that it is, or is nested in; "" in other packages. */
    private static String nameInTheCore(JavaClass type) {
        return type.getPackageName().equals(CORE)
                ? type.getName().substring(CORE.length() + 1).split("\\$", 2)[0]
                : "";
    }

    private static DescribedPredicate<JavaClass> internals(String room) {
        Set<String> names = Objects.requireNonNull(INTERNALS.get(room));
        return describe("internals for " + room, each -> names.contains(nameInTheCore(each)));
    }

    /** Typed calls and the wide area are built upon the node, which tells them what happens ({@link NodeListener}). */
    @Test
    void shouldLetRequestsUseNeitherServicesNorTheWideArea() {
        noClasses()
                .that(REQUESTS)
                .should()
                .dependOnClassesThat(SERVICES.or(WIDE_AREA).or(resideInAnyPackage(CODEC, WAN)))
                .check(main);
    }

    @Test
    void shouldKeepServicesAndTheWideAreaApart() {
        noClasses()
                .that(SERVICES)
                .should()
                .dependOnClassesThat(WIDE_AREA.or(resideInAPackage(WAN)))
                .check(main);
        noClasses()
                .that(WIDE_AREA)
                .should()
                .dependOnClassesThat(SERVICES.or(resideInAPackage(CODEC)))
                .check(main);
    }

    @Test
    void shouldLetOnlyEntryPointsUseServicesAndTheWideArea() {
        noClasses()
                .that(describe(
                        "other public types",
                        each -> each.getPackageName().equals(CORE)
                                && INTERNALS.values().stream().noneMatch(names -> names.contains(nameInTheCore(each)))
                                && !ENTRY_POINTS.contains(nameInTheCore(each))))
                .should()
                .dependOnClassesThat(SERVICES.or(WIDE_AREA).or(resideInAnyPackage(CODEC, WAN)))
                .check(main);
    }

    @Test
    void shouldKnowTheRoomOfEveryInternalClass() {
        assertEquals(
                INTERNALS.values().stream().flatMap(Set::stream).sorted().toList(),
                main.stream()
                        .filter(each -> each.getPackageName().equals(CORE)
                                && each.getEnclosingClass().isEmpty()
                                && !each.getName().contains("$")
                                && !each.getSimpleName().equals("package-info")
                                && !isPublic(each))
                        .map(JavaClass::getSimpleName)
                        .sorted()
                        .toList());
    }

    @Test
    void shouldKeepTheInternalsOfTheCoreFromTheOtherRooms() {
        noClasses()
                .that()
                .resideInAnyPackage(WIRE, CODEC, WAN)
                .should()
                .dependOnClassesThat(INTERNALS_OF_THE_CORE)
                .check(main);
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
                .check(main);
    }

    @Test
    void shouldKnowEveryRoom() {
        assertEquals(
                Set.of(CORE, WIRE, CODEC, WAN),
                main.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()));
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
