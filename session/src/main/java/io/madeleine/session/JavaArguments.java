package io.madeleine.session;

import io.madeleine.api.SessionException;
import java.io.File;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Builds the arguments of {@code java} for a program that uses Madeleine without naming its jars. Madeleine goes on the
 * module path whatever form the program has (main class on a class path, jar, source file, module), so that native
 * access can be granted to single modules.
 *
 * <p>Threading: stateless.
 */
public final class JavaArguments {
    /** The system property with Madeleine's module path. Without it, the module path of this JVM counts. */
    public static final String MODULE_PATH = "mad.module-path";

    private static final String ROOT_MODULE = "io.madeleine";

    /** Options whose value is the next argument. */
    private static final Set<String> WITH_VALUE = Set.of(
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--upgrade-module-path",
            "--add-modules",
            "--limit-modules",
            "--enable-native-access",
            "--illegal-native-access",
            "--add-reads",
            "--add-exports",
            "--add-opens",
            "--source");

    /** Options that name the program. What follows them is the program's own. */
    private static final Set<String> PROGRAM = Set.of("-jar", "-m", "--module");

    private static final List<String> CLASS_PATH = List.of("-cp", "-classpath", "--class-path");

    private static final List<String> WITH_CLASSES =
            List.of("-cp", "-classpath", "--class-path", "-p", "--module-path", "-jar");

    /** Prefixes of options that belong to one process only and must not be copied to another. */
    private static final List<String> PRIVATE = List.of("-Dmadeleine.session.", "-agentlib:jdwp", "-Xrunjdwp");

    private JavaArguments() {}

    /**
     * Puts the options that make Madeleine available in front of the given arguments. The arguments keep their order
     * and content, but a module path among them is merged with Madeleine's.
     *
     * @param given options of {@code java}, then main class, jar, module or source file, then the program's arguments
     * @param nativeModules the modules to grant native access
     * @throws SessionException if this JVM does not know where Madeleine's modules are
     */
    public static List<String> withMadeleine(List<String> given, List<String> nativeModules) {
        return withMadeleine(given, nativeModules, Map.of());
    }

    /**
     * As {@link #withMadeleine(List, List)}, for a JVM that gets these environment variables beside those of this one.
     *
     * @param variables some may hold further options of the JVM, as {@code JDK_JAVA_OPTIONS} does
     */
    public static List<String> withMadeleine(
            List<String> given, List<String> nativeModules, Map<String, String> variables) {
        String own = Optional.ofNullable(System.getProperty(MODULE_PATH))
                .or(() -> Optional.ofNullable(System.getProperty("jdk.module.path")))
                .filter(path -> !path.isBlank())
                .orElseThrow(() -> new SessionException("the location of Madeleine's modules is unknown: expected"
                        + " them on this JVM's module path, or their path in the system property " + MODULE_PATH));
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.putAll(variables);
        return withMadeleine(given, nativeModules, own, environment);
    }

    /**
     * Whether the arguments or the variable {@code CLASSPATH} give the program classes of its own: a class path, a
     * module path or a jar.
     *
     * @param given as for {@link #withMadeleine(List, List)}
     */
    public static boolean haveClasses(List<String> given) {
        for (int i = 0;
                i < given.size() && given.get(i).startsWith("-");
                i += WITH_VALUE.contains(given.get(i)) ? 2 : 1) {
            String argument = given.get(i);
            if (WITH_CLASSES.stream()
                    .anyMatch(option -> argument.equals(option) || argument.startsWith(option + "="))) {
                return true;
            }
        }
        return System.getenv("CLASSPATH") != null;
    }

    /**
     * Returns the source file or the jar that the arguments name as the program. Empty if the program is a class or a
     * module, or if a file of arguments ({@code @FILE}) may name it.
     *
     * @param given as for {@link #withMadeleine(List, List)}
     */
    public static Optional<String> programFile(List<String> given) {
        boolean jar = false;
        for (int i = 0; i < given.size(); i += WITH_VALUE.contains(given.get(i)) ? 2 : 1) {
            String argument = given.get(i);
            if (argument.startsWith("@") || argument.matches("-m|--module(=.*)?")) {
                return Optional.empty();
            }
            if (!argument.startsWith("-")) {
                return jar || argument.endsWith(".java") ? Optional.of(argument) : Optional.empty();
            }
            jar |= argument.equals("-jar"); // options may follow it
        }
        return Optional.empty();
    }

    /**
     * Returns the options with which another JVM gets the same modules and classes. Leaves out options that belong to
     * one process only.
     *
     * @param commandLine the command line of the JVM to copy; the {@code java} executable at its front may be missing
     * @param classPath the class path for the new JVM; empty for none
     */
    static List<String> likeThisProcess(List<String> commandLine, String classPath) {
        List<String> options = new ArrayList<>();
        for (int i = commandLine.getFirst().matches(".*java(\\.exe)?") ? 1 : 0; i < commandLine.size(); i++) {
            String argument = commandLine.get(i);
            if (PROGRAM.contains(argument) || !(argument.startsWith("-") || argument.startsWith("@"))) {
                break;
            }
            boolean two = WITH_VALUE.contains(argument) && i + 1 < commandLine.size();
            if (CLASS_PATH.stream().noneMatch(argument::startsWith)
                    && PRIVATE.stream().noneMatch(argument::startsWith)) {
                options.addAll(commandLine.subList(i, two ? i + 2 : i + 1));
            }
            i += two ? 1 : 0;
        }
        if (!classPath.isEmpty()) {
            options.addAll(List.of("-cp", classPath));
        }
        return options;
    }

    static List<String> withMadeleine(
            List<String> given, List<String> nativeModules, String ownPath, Map<String, String> environment) {
        List<String> arguments = new ArrayList<>(given);
        String path = takeModulePath(arguments)
                .map(theirs -> theirs + File.pathSeparator + ownPath)
                .orElse(ownPath);
        List<String> archive = ClassArchive.options(path, given, environment);
        List<String> modules = new ArrayList<>();
        modules.add(ROOT_MODULE);
        if (nativeModules.stream().anyMatch(module -> !isOurs(module))) {
            // no module requires those that carry other projects' native libraries, so they are resolved by name
            modules.addAll(all(ownPath));
        }
        List<String> all = new ArrayList<>(archive);
        all.addAll(List.of("--module-path", path, "--add-modules", String.join(",", modules)));
        if (!nativeModules.isEmpty()) {
            all.add("--enable-native-access=" + String.join(",", nativeModules));
        }
        all.addAll(arguments);
        return all;
    }

    /**
     * Whether a module belongs to Madeleine. Such a module carries no native library and is resolved as a service
     * provider.
     */
    private static boolean isOurs(String module) {
        return module.startsWith(ROOT_MODULE + ".");
    }

    private static List<String> all(String path) {
        Path[] entries = Stream.of(path.split(File.pathSeparator)).map(Path::of).toArray(Path[]::new);
        return ModuleFinder.of(entries).findAll().stream()
                .map(module -> module.descriptor().name())
                .sorted()
                .toList();
    }

    /**
     * Removes the module path from the options and returns it. If there are several, the last one counts, as in {@code
     * java}.
     */
    private static Optional<String> takeModulePath(List<String> arguments) {
        Optional<String> found = Optional.empty();
        int i = 0;
        while (i < arguments.size()) {
            String argument = arguments.get(i);
            if (!argument.startsWith("-") || PROGRAM.contains(argument)) {
                break;
            }
            if (argument.startsWith("--module-path=")) {
                found = Optional.of(argument.substring(argument.indexOf('=') + 1));
                arguments.remove(i);
            } else if ((argument.equals("-p") || argument.equals("--module-path")) && i + 1 < arguments.size()) {
                found = Optional.of(arguments.get(i + 1));
                arguments.subList(i, i + 2).clear();
            } else {
                i += WITH_VALUE.contains(argument) ? 2 : 1;
            }
        }
        return found;
    }
}
