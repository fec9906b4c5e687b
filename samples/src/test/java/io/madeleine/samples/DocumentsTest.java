package io.madeleine.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the documents name exists: classes, files, keys of the configuration, and links. */
class DocumentsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern BLOCK = Pattern.compile("(?m)^```.*?^```", Pattern.DOTALL);
    private static final Pattern CLASS = Pattern.compile("(?<![\\w.-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\\b");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]+)(?:#[^)]*)?\\)");
    private static final Pattern KEY = Pattern.compile("(?<![\\w.])madeleine(?:\\.[a-z0-9-]+)+");
    private static final Pattern TEST_METHOD = Pattern.compile("\\bshould[A-Z]\\w+");
    private static final Pattern FILE = Pattern.compile("(?:conf|docs|bench|samples)/[\\w./-]+\\.[a-z]+");

    /**
     * Classes of the JDK and of libraries. A user's own classes in examples stand in code blocks, which are not read.
     */
    private static final Set<String> OTHERS = Set.of(
            "AppendingTransformer",
            "AtomicReference",
            "ByteBuf",
            "ByteBuffer",
            "CancellationException",
            "CompletableFuture",
            "ConcurrentModificationException",
            "DirectByteBuffer",
            "EventLoop",
            "ExecutorService",
            "FileChannel",
            "IllegalArgumentException",
            "IllegalStateException",
            "InetSocketAddress",
            "InternalError",
            "IntStream",
            "IoHandler",
            "ManualIoEventLoop",
            "MemoryLayout",
            "MemorySegment",
            "NullAway",
            "NullMarked",
            "OutOfMemoryError",
            "PriorityQueue",
            "ProcessBuilder",
            "RejectedExecutionException",
            "RuntimeException",
            "ScopedValue",
            "SecureRandom",
            "SelectableChannel",
            "ServiceLoader",
            "ServicesResourceTransformer",
            "ServerSocketChannel",
            "SocketChannel",
            "StackOverflowError",
            "ThreadFactory",
            "ToolProvider",
            "VarHandle",
            "WrongThreadException",
            "XxxIT",
            "XxxTest");

    /** The change log and the reasons for decisions may name what is not there any more. */
    private static final Predicate<Path> IS_OF_TODAY = file -> !file.endsWith("CHANGELOG.md")
            && !file.toString().contains("docs/decisions/")
            && !file.toString().contains("docs/performance/");

    @Test
    void shouldNameClassesThatExist() throws IOException {
        Set<String> known = new TreeSet<>(OTHERS);
        SourceTree.files(ROOT, file -> file.toString().endsWith(".java"))
                .forEach(file -> known.addAll(typesOf(read(file))));
        assertEquals(Set.of(), named(CLASS, IS_OF_TODAY, name -> !known.contains(name)));
    }

    @Test
    void shouldNameTestsThatExist() throws IOException {
        Set<String> known = new TreeSet<>();
        SourceTree.files(ROOT, file -> file.toString().endsWith(".java"))
                .forEach(file -> TEST_METHOD.matcher(read(file)).results().forEach(found -> known.add(found.group())));
        Predicate<Path> outsideContributing = file -> IS_OF_TODAY.test(file) && !file.endsWith("CONTRIBUTING.md");
        assertEquals(Set.of(), named(TEST_METHOD, outsideContributing, name -> !known.contains(name)));
    }

    /** A class, or one that it contains. */
    private static List<String> typesOf(String source) {
        return Pattern.compile("\\b(?:class|interface|enum|record|@interface)\\s+([A-Z]\\w*)")
                .matcher(source)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    @Test
    void shouldNameKeysThatAConfigurationHas() throws IOException {
        StringBuilder all = new StringBuilder();
        SourceTree.files(ROOT, file -> file.toString().endsWith("src/main/resources/reference.conf"))
                .forEach(file -> all.append(keysOf(file)));
        assertEquals(Set.of(), named(KEY, IS_OF_TODAY, key -> !isKey(key, all.toString())));
    }

    private static String keysOf(Path file) {
        var options = ConfigParseOptions.defaults().setSyntax(ConfigSyntax.CONF);
        return ConfigFactory.parseFile(file.toFile(), options).root().unwrapped().entrySet().stream()
                .map(entry -> paths(entry.getKey(), entry.getValue()))
                .collect(Collectors.joining("\n", "\n", "\n"));
    }

    private static String paths(String path, Object value) {
        return value instanceof java.util.Map<?, ?> map
                ? path + "\n"
                        + map.entrySet().stream()
                                .map(entry -> paths(path + "." + entry.getKey(), entry.getValue()))
                                .collect(Collectors.joining("\n"))
                : path;
    }

    /** Exactly, or below an object that the user fills, such as the channels and the adapters. */
    private static boolean isKey(String key, String all) {
        if (all.contains("\n" + key + "\n")) {
            return true;
        }
        return Stream.of(
                        "madeleine.session.", // who a process is: given to it, and in no reference.conf
                        "madeleine.channels.",
                        "madeleine.nexus.", // system properties
                        "madeleine.tm.heap",
                        "madeleine.test.")
                .anyMatch(key::startsWith);
    }

    @Test
    void shouldNameFilesThatExist() throws IOException {
        assertEquals(Set.of(), named(FILE, IS_OF_TODAY, name -> !Files.exists(ROOT.resolve(name))));
    }

    @Test
    void shouldLinkToFilesThatExist() throws IOException {
        Set<String> broken = new TreeSet<>();
        for (Path file : documents()) {
            Matcher link = LINK.matcher(read(file));
            while (link.find()) {
                String target = link.group(1);
                if (!target.contains("://")
                        && !target.startsWith("mailto:")
                        && !Files.exists(file.resolveSibling(target))) {
                    broken.add(ROOT.relativize(file) + ": " + target);
                }
            }
        }
        assertEquals(Set.of(), broken);
    }

    /** What of the code in the documents has that form and is wrong, with its document. */
    private static Set<String> named(Pattern form, Predicate<Path> in, Predicate<String> isWrong) throws IOException {
        Set<String> found = new TreeSet<>();
        for (Path file : documents()) {
            if (in.test(file)) {
                Matcher code = CODE.matcher(BLOCK.matcher(read(file)).replaceAll(""));
                while (code.find()) {
                    Matcher name = form.matcher(code.group(1));
                    while (name.find()) {
                        if (isWrong.test(name.group())) {
                            found.add(ROOT.relativize(file) + ": " + name.group());
                        }
                    }
                }
            }
        }
        return found;
    }

    private static List<Path> documents() throws IOException {
        return SourceTree.files(ROOT, file -> file.toString().endsWith(".md"));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
