package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.Session;
import io.madeleine.session.SessionInfo;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Applications whose other libraries bring an older Netty, as the BOM of Spring Boot 3.5 does, or that have none. */
class LibrariesIT {
    private static final String OLD = "4.1.128";

    private static Stream<String> withoutNetty() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("netty-"));
    }

    /** Where the BOM's version counts: all artifacts that there are of it, and ours of those that there are not. */
    private static String withOldNetty() throws IOException {
        List<String> old;
        try (Stream<Path> jars = Files.list(Path.of("target", "netty-4.1").toAbsolutePath())) {
            old = jars.map(Path::toString).toList();
        }
        assertTrue(old.stream().anyMatch(jar -> jar.contains("netty-common-" + OLD)), old::toString);
        Stream<String> newInAnyCase = Stream.of(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry ->
                        Path.of(entry).getFileName().toString().matches("netty-(transport-classes-io_uring|codec-.*)"));
        return Stream.of(withoutNetty(), old.stream(), newInAnyCase)
                .flatMap(entries -> entries)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static void assertTcpIsOff(String classPath, String reason) throws Exception {
        try (Processes automatic =
                        Ranks.of(2, Program.class).classPath(classPath).start();
                Processes named = Ranks.of(1, Program.class)
                        .classPath(classPath)
                        .over("tcp")
                        .start()) {
            automatic.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                assertEquals(List.of("sci"), automatic.out(rank).linesAfter("opened over "), automatic::toString);
                List<String> tcp = automatic.out(rank).linesAfter("tcp is ");
                assertTrue(tcp.getFirst().startsWith("off: " + reason), automatic::toString);
            }
            named.awaitAll();
            assertTrue(
                    named.out(0).linesAfter("refused ").stream().anyMatch(line -> line.contains(reason)),
                    named::toString);
        }
    }

    @Test
    void shouldUseTheOtherNetworksWhereNettyIsTooOld() throws Exception {
        assertTcpIsOff(withOldNetty(), "needs Netty 4.2, found " + OLD);
    }

    @Test
    void shouldUseTheOtherNetworksWhereNettyIsMissing() throws Exception {
        assertTcpIsOff(
                withoutNetty().collect(Collectors.joining(File.pathSeparator)),
                "needs Netty 4.2, found none: add io.netty:netty-common");
    }

    @Test
    void shouldSayWhichPartOfNettyIsMissing() throws Exception {
        String partial = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("netty-handler-"))
                .collect(Collectors.joining(File.pathSeparator));
        assertTcpIsOff(partial, "needs Netty 4.2, found 4.2.");
    }

    /** Opens a session, and says by which network the other is reached and whether tcp is on. */
    static final class Program {
        public static void main(String[] args) {
            SessionInfo.Protocol tcp = SessionInfo.of(List.of("channels.default.network=auto"))
                    .protocol("tcp")
                    .orElseThrow();
            System.out.println("tcp is " + (tcp.on() ? "on" : "off") + ": "
                    + tcp.availability().reason());
            try (Session session = Session.open(args)) {
                if (session.size() > 1) {
                    System.out.println("opened over " + session.channel().network(1 - session.rank()));
                }
            } catch (MadeleineException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }
}
