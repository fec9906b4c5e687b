package io.madeleine.samples;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * The plan of the house: which module may use which, and where each library may appear. It reads the poms, the module
 * descriptors and the classes of the whole repository, so it sees more than the compiler: a dependency that is declared
 * and not used yet, or a library that leaks out of the one module which wraps it.
 */
class ArchitectureTest {

    /** Folder to the folders it may use at compile scope. A new module gets a line here. */
    private static final Map<String, Set<String>> ALLOWED = new LinkedHashMap<>();

    private static final Set<String> ANYTHING = Set.of("*");

    static {
        ALLOWED.put("bom", Set.of());
        ALLOWED.put("module-parent", Set.of());
        ALLOWED.put("madeleine-api", Set.of());
        ALLOWED.put("base", Set.of());
        ALLOWED.put("admission", Set.of());
        ALLOWED.put("pmm", Set.of("madeleine-api", "base", "admission"));
        ALLOWED.put("bmm", Set.of("pmm"));
        ALLOWED.put("switch", Set.of("bmm"));
        ALLOWED.put("tm-*", Set.of("pmm", "base", "madeleine-api"));
        ALLOWED.put("tm-tcp-boringssl", Set.of("tm-*"));
        ALLOWED.put("native-linux", Set.of("pmm", "base", "madeleine-api"));
        ALLOWED.put("rma", Set.of("madeleine-api", "base", "pmm"));
        ALLOWED.put("session", Set.of("switch", "bmm", "pmm", "base", "madeleine-api", "rma", "admission"));
        ALLOWED.put("active-messages", Set.of("madeleine-api"));
        ALLOWED.put("nexus-adapter", Set.of("madeleine-api", "admission", "active-messages"));
        ALLOWED.put("nexus-fory", Set.of("nexus-adapter"));
        ALLOWED.put("netty-adapter", Set.of("madeleine-api"));
        ALLOWED.put("mpich-adapter", Set.of("madeleine-api", "active-messages", "rma"));
        // The tm-* modules stand here for the module path only: nothing of them is in the API of this artifact.
        ALLOWED.put("madeleine", Set.of("madeleine-api", "session", "tm-*", "rma", "nexus-adapter", "mpich-adapter"));
        ALLOWED.put("testkit", Set.of("pmm", "base", "madeleine-api"));
        ALLOWED.put("testkit-messages", Set.of("testkit", "switch", "bmm", "pmm", "base", "madeleine-api"));
        ALLOWED.put("cli", Set.of("session", "switch", "bmm", "pmm", "base", "madeleine-api", "rma"));
        ALLOWED.put("bench", ANYTHING);
        ALLOWED.put("samples", ANYTHING);
        ALLOWED.put("stress", ANYTHING);
        ALLOWED.put("integration", ANYTHING);
    }

    /** These are the ends of the graph: nothing uses them at compile scope. */
    private static final Set<String> NEVER_USED = Set.of("bench", "samples", "cli", "stress", "integration");

    /** Modules which are not on the module path, with the reason. */
    private static final Set<String> WITHOUT_DESCRIPTOR = Set.of(
            "bench", // JMH's generated classes
            "stress", // tests in the packages of what they test
            "integration", // tests only
            "samples", // run from source, as a first program of one's own would be
            "bom", // a pom
            "module-parent"); // a pom

    private static final Map<String, Module> MODULES = new TreeMap<>();

    private static JavaClasses classes;

    /** Those of shipped modules: stress has its tests in the packages of what they test. */
    private static JavaClasses shipped;

    /** One folder of the reactor: what its pom and its descriptor say. */
    private record Module(
            String folder,
            String artifact,
            Map<String, String> siblingScopes,
            List<String> compileLibraries,
            Optional<ModuleDescriptor> descriptor) {}

    @BeforeAll
    static void readRepository() throws Exception {
        Path root = root();
        List<Path> classFolders = new ArrayList<>();
        for (Element module : elements(rootElement(root.resolve("pom.xml")), "modules", "module")) {
            Path folder = root.resolve(module.getTextContent().strip());
            MODULES.put(folder.getFileName().toString(), read(folder));
            Path compiled = folder.resolve("target/classes");
            if (Files.isDirectory(compiled)) {
                classFolders.add(compiled);
            }
        }
        classes = new ClassFileImporter().importPaths(classFolders);
        shipped = new ClassFileImporter()
                .importPaths(classFolders.stream()
                        .filter(folder -> !NEVER_USED.contains(
                                folder.getParent().getParent().getFileName().toString()))
                        .toList());
    }

    /** The BOM inherits what the root pom manages, and a project that imports it gets each of these versions. */
    @Test
    void shouldManageOnlyWhatIsShippedInTheBom() throws Exception {
        List<String> notShipped = new ArrayList<>();
        Element management = children(rootElement(root().resolve("pom.xml")), "dependencyManagement")
                .getFirst();
        for (Element managed : elements(management, "dependencies", "dependency")) {
            String artifact = text(managed, "artifactId", "");
            boolean shipped = text(managed, "groupId", "").equals("io.madeleine")
                    ? !NEVER_USED.contains(byName(artifact, Module::artifact).folder())
                    : MODULES.values().stream()
                            .filter(module -> !NEVER_USED.contains(module.folder()))
                            .anyMatch(module -> module.compileLibraries().contains(artifact));
            if (!shipped && !artifact.equals("netty-bom")) {
                notShipped.add(artifact);
            }
        }
        assertEquals(List.of(), notShipped, "managed in the root pom, but no module that is shipped needs it");
    }

    @Test
    void shouldUseOnlyAllowedModulesInPoms() {
        List<String> violations = new ArrayList<>();
        for (Module module : MODULES.values()) {
            module.siblingScopes().forEach((artifact, scope) -> {
                if (!scope.equals("test") && !scope.equals("runtime")) {
                    check(module, byName(artifact, Module::artifact), "its pom", violations);
                }
            });
        }
        assertEquals(List.of(), violations);
    }

    @Test
    void shouldUseOnlyAllowedModulesInDescriptors() {
        List<String> violations = new ArrayList<>();
        for (Module module : MODULES.values()) {
            module.descriptor()
                    .ifPresent(descriptor -> descriptor.requires().stream()
                            .map(ModuleDescriptor.Requires::name)
                            .filter(name -> name.equals("io.madeleine") || name.startsWith("io.madeleine."))
                            .forEach(name -> check(
                                    module,
                                    byName(
                                            name,
                                            m -> m.descriptor()
                                                    .map(ModuleDescriptor::name)
                                                    .orElse("")),
                                    "its module-info",
                                    violations)));
        }
        assertEquals(List.of(), violations);
    }

    @Test
    void shouldHaveDescriptorInEveryShippedModule() {
        Set<String> without = new TreeSet<>();
        for (Module module : MODULES.values()) {
            if (module.descriptor().isEmpty() && !WITHOUT_DESCRIPTOR.contains(module.folder())) {
                without.add(module.folder());
            }
        }
        assertEquals(Set.of(), without);
    }

    @Test
    void shouldKeepApiFreeOfDependencies() {
        Module api = MODULES.get("madeleine-api");
        assertEquals(Map.of(), api.siblingScopes());
        assertEquals(List.of(), api.compileLibraries());
        assertEquals(
                List.of(),
                api.descriptor().orElseThrow().requires().stream()
                        .map(ModuleDescriptor.Requires::name)
                        .filter(name -> !name.startsWith("java.") && !name.equals("jdk.jfr"))
                        .toList());
    }

    /** Rooms inside a module are packages that it keeps to itself; what it exports is its face. */
    @Test
    void shouldExportOnlyTheFaceOfAModule() {
        List<String> violations = new ArrayList<>();
        for (Module module : MODULES.values()) {
            module.descriptor().ifPresent(descriptor -> {
                String base = descriptor.name();
                Set<String> face = base.equals("io.madeleine.mpi")
                        ? Set.of("mpi", "mpjbuf") // the names that programs with MPI for Java use
                        : Set.of(
                                base,
                                base + ".spi",
                                base + ".handshake",
                                base + ".tls",
                                base + ".faults",
                                base + ".heap");
                for (ModuleDescriptor.Exports exported : descriptor.exports()) {
                    if (!exported.isQualified() && !face.contains(exported.source())) {
                        violations.add(
                                module.folder() + " exports " + exported.source() + " to all; allowed are " + face);
                    }
                }
            });
        }
        assertEquals(List.of(), violations);
    }

    /**
     * Two exceptions: the API and its SPI, by which it finds the session module; and the rooms of nexus, which use
     * public types of its exported package and nothing else there, as its own RoomsTest checks.
     */
    @Test
    void shouldHaveNoCirclesBetweenPackages() {
        slices().matching("io.madeleine.(**)")
                .should()
                .beFreeOfCycles()
                .ignoreDependency(resideInAnyPackage("io.madeleine.api"), resideInAnyPackage("io.madeleine.api.spi"))
                .ignoreDependency(
                        resideInAnyPackage("io.madeleine.nexus.wire", "io.madeleine.nexus.codec"),
                        resideInAnyPackage("io.madeleine.nexus"))
                .check(shipped);
    }

    /** The table "Networks" in CONTRIBUTING.md. */
    @Test
    void shouldHaveTheSameFilesInEachNetwork() throws IOException {
        List<String> missing = new ArrayList<>();
        int networks = 0;
        for (String folder : MODULES.keySet()) {
            Path sources = root().resolve(folder).resolve("src/main");
            Set<String> files = fileNames(sources);
            Optional<String> driver =
                    files.stream().filter(file -> file.endsWith("Pmm.java")).findAny();
            if (!folder.startsWith("tm-") || driver.isEmpty()) { // tm-tcp-boringssl adds to a network and is none
                continue;
            }
            networks++;
            String family = driver.get().substring(0, driver.get().length() - "Pmm.java".length());
            for (String name : List.of("Config", "Adapter", "Address", "Connection", "GuiceModule")) {
                boolean isShared = name.equals("Address") && uses(folder, "io.madeleine.pmm.spi.InternetAddress");
                if (!isShared && !files.contains(family + name + ".java")) {
                    missing.add(folder + ": " + family + name + ".java");
                }
            }
            for (String name : List.of("Channel", "Progress")) {
                if (!uses(folder, "io.madeleine.pmm.handshake.PolledAdapter") && !has(files, family, name)) {
                    missing.add(folder + ": " + family + name + ".java");
                }
            }
            if (!has(files, family, "Link")) {
                missing.add(folder + ": a link, " + family + "...Link.java");
            }
            if (!files.contains("reference.conf")) {
                missing.add(folder + ": reference.conf");
            }
            if (!fileNames(root().resolve(folder).resolve("src/test")).contains("RoomsTest.java")) {
                missing.add(folder + ": RoomsTest.java");
            }
        }
        assertEquals(List.of(), missing, "files of a network that CONTRIBUTING.md lists");
        assertTrue(networks >= 2, "found " + networks + " networks");
    }

    private static boolean has(Set<String> files, String family, String end) {
        return files.stream().anyMatch(file -> file.startsWith(family) && file.endsWith(end + ".java"));
    }

    private static boolean uses(String folder, String type) {
        String output = "/" + folder + "/target/classes/";
        return shipped.stream()
                .filter(each -> each.getSource()
                        .filter(source -> source.getUri().getPath().contains(output))
                        .isPresent())
                .flatMap(each -> each.getDirectDependenciesFromSelf().stream())
                .anyMatch(dependency -> dependency.getTargetClass().getName().equals(type));
    }

    private static Set<String> fileNames(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Set.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void shouldKeepNettyInsideTheModulesWhichWrapIt() {
        noClasses()
                .that(resideOutside("tm.tcp", "tm.bip", "session", "netty", "bench"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty..")
                .check(classes);
    }

    @Test
    void shouldKeepJcToolsInProgressAndFamilies() {
        noClasses()
                .that(resideOutside("base", "pmm", "tm", "bench"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.jctools..")
                .check(classes);
    }

    @Test
    void shouldSeeGuiceOnlyInGuiceModules() {
        noClasses()
                .that(resideOutside("session", "cli", "bench").and(notNamed("GuiceModule")))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.google.inject..", "jakarta.inject..")
                .check(classes);
    }

    @Test
    void shouldSeeTypesafeConfigOnlyInConfigRecords() {
        noClasses()
                .that(resideOutside("session", "cli", "bench").and(notNamed("GuiceModule", "Config", "ConfigReader")))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.typesafe.config..")
                .check(classes);
    }

    @Test
    void shouldLeaveGuavaToGuice() {
        noClasses()
                .that(resideOutside("bench"))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("com.google.common..")
                .check(classes);
    }

    @Test
    void shouldCallNoNativeCodeInTheCore() {
        noClasses()
                .that(resideOutside("nativelinux", "linux", "tm.via", "bench"))
                .should()
                .dependOnClassesThat(resideInAnyPackage("sun..", "jdk.internal..")
                        .or(DescribedPredicate.describe(
                                "are the linker of java.lang.foreign",
                                c -> Set.of("java.lang.foreign.Linker", "java.lang.foreign.SymbolLookup")
                                        .contains(c.getName()))))
                .check(classes);
    }

    /** True for classes outside the named packages below io.madeleine, and outside what lies below those. */
    private static DescribedPredicate<JavaClass> resideOutside(String... names) {
        String[] packages =
                Stream.of(names).map(name -> "io.madeleine." + name + "..").toArray(String[]::new);
        return DescribedPredicate.not(resideInAnyPackage(packages));
    }

    /** True when the outermost class around a class ends with none of the suffixes. */
    private static DescribedPredicate<JavaClass> notNamed(String... suffixes) {
        return DescribedPredicate.describe("are not named *" + String.join(" or *", suffixes), c -> {
            String simple = c.getName().substring(c.getName().lastIndexOf('.') + 1);
            int inner = simple.indexOf('$');
            String outermost = inner < 0 ? simple : simple.substring(0, inner);
            return Stream.of(suffixes).noneMatch(outermost::endsWith);
        });
    }

    private static void check(Module from, Module to, String where, List<String> violations) {
        Set<String> allowed = ALLOWED.get(family(from.folder()));
        if (allowed == null) {
            violations.add(from.folder() + " is new: say in ArchitectureTest.ALLOWED what it may use");
        } else if (NEVER_USED.contains(to.folder())) {
            violations.add(from.folder() + " uses " + to.folder() + " in " + where + "; nothing may");
        } else if (allowed != ANYTHING && !allowed.contains(family(to.folder()))) {
            violations.add(
                    from.folder() + " uses " + to.folder() + " in " + where + "; it may use " + new TreeSet<>(allowed));
        }
    }

    private static String family(String folder) {
        return folder.startsWith("tm-") && !ALLOWED.containsKey(folder) ? "tm-*" : folder;
    }

    private static Module byName(String name, java.util.function.Function<Module, String> key) {
        Predicate<Module> matches = module -> key.apply(module).equals(name);
        return MODULES.values().stream()
                .filter(matches)
                .findFirst()
                .orElseGet(() -> fail("no module of this repository is called " + name));
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isRegularFile(folder.resolve("mad"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    private static Module read(Path folder) throws Exception {
        Element pom = rootElement(folder.resolve("pom.xml"));
        Map<String, String> siblings = new TreeMap<>();
        List<String> libraries = new ArrayList<>();
        for (Element dependency : elements(pom, "dependencies", "dependency")) {
            String artifact = text(dependency, "artifactId", "");
            String scope = text(dependency, "scope", "compile");
            if (text(dependency, "groupId", "").equals("io.madeleine")) {
                siblings.put(artifact, scope);
            } else if (!scope.equals("test")) {
                libraries.add(artifact);
            }
        }
        Optional<ModuleDescriptor> descriptor = Optional.empty();
        Path compiled = folder.resolve("target/classes/module-info.class");
        if (Files.isRegularFile(compiled)) {
            try (InputStream in = Files.newInputStream(compiled)) {
                descriptor = Optional.of(ModuleDescriptor.read(in, () -> packages(compiled.getParent())));
            }
        }
        return new Module(
                folder.getFileName().toString(), text(pom, "artifactId", ""), siblings, libraries, descriptor);
    }

    private static Set<String> packages(Path classFolder) {
        try (Stream<Path> files = Files.walk(classFolder)) {
            Set<String> packages = new TreeSet<>();
            files.filter(file -> file.toString().endsWith(".class"))
                    .map(file -> classFolder.relativize(file).getParent())
                    .filter(parent -> parent != null)
                    .forEach(parent -> packages.add(parent.toString().replace('/', '.')));
            return packages;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static Element rootElement(Path xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(xml.toFile())
                .getDocumentElement();
    }

    /** The elements {@code name} in the direct child {@code group} of an element. */
    private static List<Element> elements(Element parent, String group, String name) {
        return children(parent, group).stream()
                .flatMap(child -> children(child, name).stream())
                .toList();
    }

    private static List<Element> children(Element parent, String name) {
        List<Element> found = new ArrayList<>();
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && element.getTagName().equals(name)) {
                found.add(element);
            }
        }
        return found;
    }

    private static String text(Element parent, String name, String absent) {
        List<Element> found = children(parent, name);
        return found.isEmpty() ? absent : found.getFirst().getTextContent().strip();
    }
}
