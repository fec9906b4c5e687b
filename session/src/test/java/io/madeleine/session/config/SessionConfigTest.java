package io.madeleine.session.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.WaitHint;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.faults.DirectionFaults;
import io.madeleine.pmm.faults.Faults;
import io.madeleine.session.TestSessions;
import io.madeleine.session.bootstrap.Joining;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class SessionConfigTest {
    private static final Map<String, String> LAUNCHED = Map.of(
            "MADELEINE_LAUNCHER", "127.0.0.1:4711",
            "MADELEINE_RANK", "2",
            "MADELEINE_SIZE", "3",
            "MADELEINE_SECRET", "s");

    @TempDir
    Path directory;

    private static SessionConfig config(String... arguments) {
        return config(Map.of(), new Properties(), arguments);
    }

    private static SessionConfig config(Map<String, String> environment, Properties properties, String... arguments) {
        return SessionConfig.from(
                ConfigSources.ofArguments(List.of(arguments), new ProcessEnvironment(environment, properties)));
    }

    private static String refusal(String... arguments) {
        return assertThrows(ConfigurationException.class, () -> config(arguments))
                .getMessage();
    }

    private static void assertContains(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), "expected \"" + part + "\" in: " + text);
        }
    }

    @Test
    void shouldHaveDefaults() {
        SessionConfig config = config();
        assertEquals(new Membership("default", 0, 1, new Membership.Contact.Alone(), ""), config.membership());
        assertEquals(
                new Timeouts(
                        Duration.ofSeconds(30).toNanos(),
                        Duration.ofSeconds(10).toNanos(),
                        Duration.ofSeconds(3).toNanos(),
                        Duration.ofSeconds(30).toNanos()),
                config.timeouts());
        assertEquals(new WaitPolicy(WaitMode.ADAPTIVE, 200_000, 20), config.waiting());
        assertEquals(List.of(new ChannelSettings("default", "auto", "auto")), config.channels());
        assertEquals(List.of("sci", "via", "tcp"), config.networks());
        assertEquals(List.of(), config.families());
        assertFalse(config.selfDescribed());
    }

    @Test
    void shouldMapEveryKey() {
        SessionConfig config = config(
                "session.name=x",
                "session.rank=1",
                "madeleine.session.hosts=127.0.0.1:7000, localhost",
                "session.size=2",
                "session.secret=top",
                "session.open-timeout=1s",
                "session.close-timeout=2ms",
                "session.abort-timeout=3ms",
                "channels.bulk.network=tcp",
                "channels.bulk.adapter=eth1",
                "networks=[tcp, sci]",
                "wait.mode=Block",
                "wait.spin=7us",
                "wait.yields=3",
                "peer-timeout=1m",
                "debug.self-described=true",
                "tm.mine.guice-module=a.B",
                "tm.tcp.enabled=false");
        assertEquals("x", config.membership().name());
        assertEquals(1, config.membership().rank());
        assertEquals(2, config.membership().size());
        assertEquals(
                new Membership.Contact.StaticHosts(
                        List.of(new HostAddress("127.0.0.1", 7000), new HostAddress("localhost", 0))),
                config.membership().contact());
        assertEquals("top", config.membership().secret());
        assertEquals(new Timeouts(1_000_000_000L, 2_000_000L, 3_000_000L, 60_000_000_000L), config.timeouts());
        assertEquals(
                List.of(new ChannelSettings("bulk", "tcp", "eth1"), new ChannelSettings("default", "auto", "auto")),
                config.channels());
        assertEquals(List.of("tcp", "sci"), config.networks());
        assertEquals(new WaitPolicy(WaitMode.BLOCK, 7_000, 3), config.waiting());
        assertTrue(config.selfDescribed());
        assertEquals(
                List.of(
                        new FamilyConfig("mine", true, Optional.of("a.B"), "not set"),
                        new FamilyConfig("tcp", false, Optional.empty(), "argument tm.tcp.enabled")),
                config.families());
    }

    @Test
    void shouldTakeRankAndSizeFromTheLauncher() {
        Membership membership = config(LAUNCHED, new Properties()).membership();
        assertEquals(
                new Membership(
                        "default", 2, 3, new Membership.Contact.Launcher(new HostAddress("127.0.0.1", 4711)), "s"),
                membership);
    }

    @Test
    void shouldIgnoreTheLauncherWhenHostsAreGivenOrWhenToldSo() {
        Membership hosts = config(LAUNCHED, new Properties(), "session.hosts=127.0.0.1:7000", "session.rank=0")
                .membership();
        assertEquals(1, hosts.size());
        assertEquals(
                new Membership.Contact.Alone(),
                config(LAUNCHED, new Properties(), "session.launcher=none")
                        .membership()
                        .contact());
    }

    @Test
    void shouldPreferArgumentsToPropertiesToLauncherToFile() throws IOException {
        Path file = Files.writeString(
                directory.resolve("f.conf"),
                "madeleine { wait { mode = block, yields = 1, spin = 1us }, peer-timeout = 1s, session.name = file }");
        Properties properties = new Properties();
        properties.setProperty("madeleine.wait.yields", "3");
        properties.setProperty("madeleine.wait.mode", "adaptive");
        properties.setProperty("other.key", "x");
        Map<String, String> environment = Map.of(
                "MADELEINE_CONF",
                file.toString(),
                "MADELEINE_SETTINGS",
                "wait.yields=2\nmadeleine.wait.mode=adaptive\nwait.spin=2us");
        SessionConfig config = config(environment, properties, "wait.mode=spin");
        assertEquals(new WaitPolicy(WaitMode.SPIN, 2_000, 3), config.waiting());
        assertEquals(1_000_000_000L, config.timeouts().peerNs());
        assertEquals("file", config.membership().name());
    }

    @Test
    void shouldTakeTheFileOfTheArgumentInsteadOfThatOfTheEnvironment() throws IOException {
        Path environmentFile = Files.writeString(directory.resolve("e.conf"), "madeleine.session.name = environment");
        Path argumentFile = Files.writeString(directory.resolve("a.conf"), "madeleine.wait.mode = spin");
        Map<String, String> environment = Map.of("MADELEINE_CONF", environmentFile.toString());
        for (String[] arguments : new String[][] {{"--conf", argumentFile.toString()}, {"--conf=" + argumentFile}}) {
            SessionConfig config = config(environment, new Properties(), arguments);
            assertEquals(WaitMode.SPIN, config.waiting().mode());
            assertEquals("default", config.membership().name());
        }
    }

    @Test
    void shouldResolveReferencesInTheNameOfMeasuredThresholds() throws IOException {
        Path file = Files.writeString(
                directory.resolve("f.conf"),
                "name = none, madeleine.tuned = ${name}\".conf\", madeleine.wait.yields = 7");
        Map<String, String> environment = Map.of("MADELEINE_CONF", file.toString());
        String told = assertThrows(ConfigurationException.class, () -> config(environment, new Properties()))
                .getMessage();
        assertTrue(told.startsWith("madeleine.tuned = none.conf cannot be read"), told);
        Files.writeString(file, "base { wait.yields = 7 }, madeleine = ${base}");
        assertEquals(
                new WaitPolicy(WaitMode.SPIN, 200_000, 7),
                config(environment, new Properties(), "wait.mode=spin").waiting());
    }

    @Test
    void shouldNotTakeTheDefaultsOfAConfigForSettings() throws IOException {
        Path file = Files.writeString(directory.resolve("f.conf"), "madeleine.wait { mode = block, yields = 1 }");
        Config settings =
                ConfigFactory.parseString("madeleine.wait.yields = 5").withFallback(ConfigFactory.defaultReference());
        SessionConfig config = SessionConfig.from(ConfigSources.ofConfig(
                settings, new ProcessEnvironment(Map.of("MADELEINE_CONF", file.toString()), new Properties())));
        assertEquals(new WaitPolicy(WaitMode.BLOCK, 200_000, 5), config.waiting());
    }

    @Test
    void shouldTakeAnySettingsThatAMapCanHold() {
        SessionConfig config = TestSessions.config(Map.of(
                "madeleine.peer-timeout",
                Duration.ofSeconds(9),
                "wait.yields",
                4,
                "debug.self-described",
                true,
                "networks",
                List.of("tcp"),
                "channels",
                Map.of("a", Map.of("network", "tcp")),
                "wait.mode",
                WaitMode.SPIN));
        assertEquals(Duration.ofSeconds(9).toNanos(), config.timeouts().peerNs());
        assertEquals(4, config.waiting().yieldRounds());
        assertTrue(config.selfDescribed());
        assertEquals(List.of("tcp"), config.networks());
        assertEquals(
                List.of("a", "default"),
                config.channels().stream().map(ChannelSettings::name).toList());
        assertEquals(WaitMode.SPIN, config.waiting().mode());
    }

    @Test
    void shouldNameUnknownKeysTheirPlaceAndTheNearestKnownOne() throws IOException {
        Path file = Files.writeString(directory.resolve("x.conf"), "madeleine {\n  wait {\n    mod = spin\n  }\n}\n");
        assertContains(refusal("--conf=" + file), "unknown key madeleine.wait.mod", "x.conf: 3", "did you mean mode?");
        assertContains(refusal("sesion.name=x"), "unknown key madeleine.sesion", "did you mean session?");
        assertContains(refusal("channels.default.netwrok=tcp"), "did you mean network?");
        assertContains(refusal("tm.tpc.enabled=true"), "unknown key madeleine.tm.tpc", "did you mean tcp?");
        Path other = Files.writeString(directory.resolve("y.conf"), "madelein.wait.mode = spin");
        assertContains(refusal("--conf=" + other), "unknown key madelein", "y.conf: 1", "did you mean madeleine?");
        Properties properties = new Properties();
        properties.setProperty("madeleine.wait.moode", "spin");
        assertContains(
                assertThrows(ConfigurationException.class, () -> config(Map.of(), properties))
                        .getMessage(),
                "madeleine.wait.moode",
                "system property");
    }

    @Test
    void shouldNameWrongValuesTheirPlaceAndWhatIsAccepted() throws IOException {
        Path file = Files.writeString(directory.resolve("x.conf"), "madeleine.wait.mode = spinn");
        assertContains(
                refusal("--conf=" + file),
                "madeleine.wait.mode",
                "spinn",
                "x.conf: 1",
                "spin, adaptive or block",
                "did you mean spin?");
        assertContains(refusal("wait.spin=-1us"), "madeleine.wait.spin", "0 or more");
        assertContains(refusal("wait.spin=soon"), "a duration with its unit");
        assertContains(refusal("wait.yields=many"), "a whole number from 0");
        assertContains(refusal("debug.self-described=maybe"), "true or false");
        assertContains(refusal("session.name=a b"), "a name of 1 to 64");
        assertContains(refusal("session=x"), "madeleine.session", "expected an object");
        assertContains(refusal("channels.x=tcp"), "madeleine.channels.x", "expected an object");
        assertContains(refusal("channels.x.adapter=eth0"), "madeleine.channels.x.network is auto");
        assertContains(
                refusal("channels.x.hint=latnecy"),
                "madeleine.channels.x.hint",
                "latnecy",
                "expected cpu, throughput, auto or latency",
                "did you mean latency?");
        assertContains(refusal("networks={}"), "a list of texts");
        assertContains(refusal("session.open-timeout=0s"), "madeleine.session.open-timeout");
    }

    @Test
    void shouldReadTheFaultsOfEachDirection() {
        assertFalse(config().faults().any());
        Faults faults = config(
                        "faults.seed=7",
                        "faults.links.0-to-1.delay=2ms",
                        "faults.links.0-to-1.jitter=1ms",
                        "faults.links.any-to-1={ stall-after = 1s, stall-for = 2s }",
                        "faults.links.any-to-any.cut-after=0s")
                .faults();
        assertTrue(faults.any());
        int any = Faults.Direction.ANY;
        assertEquals(
                new Faults(
                        7,
                        Map.of(
                                new Faults.Direction(0, 1),
                                new DirectionFaults(2_000_000, 1_000_000, 0, 0, DirectionFaults.NEVER),
                                new Faults.Direction(any, 1),
                                new DirectionFaults(0, 0, 1_000_000_000, 2_000_000_000, DirectionFaults.NEVER),
                                new Faults.Direction(any, any),
                                new DirectionFaults(0, 0, 0, 0, 0))),
                faults);
    }

    @Test
    void shouldRefuseFaultsThatAreNone() {
        assertContains(refusal("faults.links.0-1.delay=2ms"), "madeleine.faults.links.0-1", "0-to-1, any-to-2");
        assertContains(refusal("faults.links.0-to-1=2ms"), "madeleine.faults.links.0-to-1 = ", "expected an object");
        assertContains(
                refusal("faults.links.0-to-1.dealy=2ms"),
                "unknown key madeleine.faults.links.0-to-1.dealy",
                "did you mean delay?");
        assertContains(refusal("faults.links.any-to-any.delay=2"), "any-to-any.delay = ", "a duration with its unit");
        assertContains(refusal("faults.links.0-to-0.delay=2ms"), "links.0-to-0", "the ranks of two processes");
        assertContains(refusal("faults.links.0-to-1.stall-after=2s"), "0-to-1.stall-after = ", "stall-for beside it");
    }

    @Test
    void shouldReadWhatCountsForThoseWhoWaitOnAChannel() {
        SessionConfig config = config("channels.bulk.hint=cpu", "channels.calls.hint=latency");
        assertEquals(
                List.of(WaitHint.CPU, WaitHint.LATENCY, WaitHint.AUTO),
                config.channels().stream().map(ChannelSettings::hint).toList());
    }

    @Test
    void shouldRefuseArgumentsThatAreNoSettings() {
        assertContains(refusal("verbose"), "\"verbose\"", "key=value", "--conf=FILE");
        assertContains(refusal("-Dx=y"), "\"-Dx=y\"");
        assertContains(refusal("--conf"), "--conf=FILE");
        assertContains(refusal("--conf=" + directory.resolve("none.conf")), "none.conf", "cannot be read");
        assertContains(refusal("networks=[a"), "expected a list");
    }

    @Test
    void shouldSayWhatIsWrongInAFileThatIsNotHocon() throws IOException {
        Path file = Files.writeString(directory.resolve("broken.conf"), "madeleine {\n wait {\n");
        assertContains(refusal("--conf=" + file), "broken.conf");
    }

    @Test
    void shouldRefuseRanksAndSizesThatCannotBe() {
        assertContains(refusal("session.size=2"), "madeleine.session.size", "mad run", "madeleine.session.hosts");
        assertContains(refusal("session.rank=1"), "madeleine.session.rank");
        assertContains(refusal("session.hosts=127.0.0.1:1,127.0.0.1", "session.rank=2"), "from 0 to 1");
        assertContains(
                refusal("session.hosts=127.0.0.1:1", "session.size=2", "session.rank=0"), "madeleine.session.size");
        assertContains(refusal("session.hosts=127.0.0.1"), "a port in the first entry");
        assertContains(refusal("session.hosts=a b:1"), "host or host:port");
        assertContains(refusal("session.hosts=127.0.0.1:1,127.0.0.1"), "2 entries", "name this machine");
        for (Map<String, String> wrong :
                List.of(Map.of("MADELEINE_RANK", "x"), Map.of("MADELEINE_RANK", "3"), Map.of("MADELEINE_SIZE", "-1"))) {
            Map<String, String> environment = new java.util.HashMap<>(LAUNCHED);
            environment.putAll(wrong);
            String message = assertThrows(ConfigurationException.class, () -> config(environment, new Properties()))
                    .getMessage();
            assertContains(message, wrong.keySet().iterator().next());
        }
    }

    @Test
    void shouldFindItsRankInAListOfHosts() {
        Membership membership = config("session.hosts=192.0.2.1:7000,127.0.0.1", "session.secret=s")
                .membership();
        assertEquals(1, membership.rank());
    }

    @Test
    void shouldRequireASecretBetweenHostsAndNeverShowIt() {
        assertContains(
                refusal("session.hosts=192.0.2.1:7000,127.0.0.1", "session.rank=1"),
                "madeleine.session.secret is empty");
        assertEquals(
                "",
                config("session.hosts=localhost:7000", "session.rank=0")
                        .membership()
                        .secret());
        Membership membership =
                config("session.hosts=localhost:7000", "session.secret=hush").membership();
        assertFalse(membership.toString().contains("hush"));
        assertFalse(refusal("session.secret={a:hush}").contains("hush"));
    }

    private Path secretFile(String content, String mode) throws IOException {
        Path file = Files.writeString(directory.resolve("secret"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    @Test
    void shouldTakeTheSecretFromAFile() throws IOException {
        Path file = secretFile(" in a file \n", "rw-------");
        assertEquals(
                "in a file",
                config(LAUNCHED, new Properties(), "session.secret-file=" + file)
                        .membership()
                        .secret());
        assertEquals(
                "in a file",
                config("session.hosts=192.0.2.1:7000,127.0.0.1", "session.secret-file=" + file)
                        .membership()
                        .secret());
        assertContains(
                refusal("session.secret-file=" + file, "session.secret=hush"),
                "madeleine.session.secret-file",
                "both are set");
        assertContains(
                refusal("session.secret-file=" + directory.resolve("none")), "madeleine.session.secret-file", "none");
        assertContains(refusal("session.secret-file=" + secretFile("\n", "rw-------")), "it has none");
    }

    @Test
    void shouldRefuseControlCharactersInASecretAndNotRepeatIt() throws IOException {
        for (String secret : List.of("hush\0hush", "hush\nhush", "hush\u001bhush")) {
            Path file = secretFile(secret, "rw-------");
            String refusal = refusal("session.secret-file=" + file);
            assertContains(refusal, "madeleine.session.secret-file = ", file.toString(), "control characters");
            assertFalse(refusal.contains("hush"), refusal);
        }
        String refusal = refusal("session.secret=hush\0hush");
        assertContains(refusal, "madeleine.session.secret = (hidden)", "without zero characters");
        assertFalse(refusal.contains("hush"), refusal);
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldRefuseASecretFileThatIsNoRegularFileAndNotWaitForIt() throws Exception {
        Path pipe = directory.resolve("pipe");
        try {
            assumeTrue(
                    new ProcessBuilder("mkfifo", "-m", "600", pipe.toString())
                                    .start()
                                    .waitFor()
                            == 0,
                    "no pipe can be made");
        } catch (IOException e) {
            assumeTrue(false, "no mkfifo here: " + e);
        }
        assertContains(refusal("session.secret-file=" + pipe), "a regular file; this is a pipe");
        assertContains(refusal("session.secret-file=" + directory), "a regular file; this is a directory");
    }

    @Test
    void shouldRefuseASecretFileThatOthersCanRead() throws IOException {
        for (String mode : List.of("rw----r--", "rw-----w-", "rw--w----")) {
            Path file = secretFile("hush", mode);
            String refusal = refusal("session.secret-file=" + file);
            assertContains(refusal, mode, "chmod 600 " + file);
            assertFalse(refusal.contains("hush"), refusal);
        }
        secretFile("hush", "r--r-----");
        assertEquals(
                "hush",
                config("session.secret-file=" + directory.resolve("secret"))
                        .membership()
                        .secret());
    }

    @Test
    void shouldTakeTheSecretFromTheEnvironmentWhereNothingElseSaysIt() throws IOException {
        Map<String, String> environment = Map.of("MADELEINE_SECRET", "inherited");
        assertEquals(
                "inherited",
                config(environment, new Properties(), "session.hosts=192.0.2.1:7000,127.0.0.1")
                        .membership()
                        .secret());
        assertEquals(
                "inherited",
                config(environment, new Properties(), "session.size=1")
                        .membership()
                        .secret());
        assertEquals(
                "in a file",
                config(environment, new Properties(), "session.secret-file=" + secretFile("in a file", "rw-------"))
                        .membership()
                        .secret());
    }

    @Test
    void shouldRefuseASecretOnACommandLineAndNotRepeatIt() {
        for (String argument : List.of(
                "-Dmadeleine.session.secret=hush (1)",
                "session.secret=hush (1)",
                "session={\"secret\": \"hush (1)\"}")) {
            ProcessEnvironment seen = new ProcessEnvironment(
                    Map.of(), new Properties(), List.of("java", "-cp", "a.jar", argument, "more"));
            ConfigSources sources = ConfigSources.ofArguments(List.of("session.secret=hush (1)"), seen);
            String refusal = assertThrows(ConfigurationException.class, () -> SessionConfig.from(sources))
                    .getMessage();
            assertContains(refusal, "command line", "madeleine.session.secret-file", "MADELEINE_SECRET");
            assertFalse(refusal.contains("hush"), refusal);
        }
        ProcessEnvironment unseen = new ProcessEnvironment(Map.of(), new Properties(), List.of("java", "hush", "Main"));
        assertEquals(
                "hush",
                SessionConfig.from(ConfigSources.ofArguments(List.of("session.secret=hush"), unseen))
                        .membership()
                        .secret());
    }

    @Test
    void shouldReadAddressesOfVersionSix() {
        assertEquals(Optional.of(new HostAddress("::1", 7000)), HostAddress.parse("[::1]:7000"));
        assertEquals(Optional.of(new HostAddress("::1", 0)), HostAddress.parse("::1"));
        assertEquals("[::1]:7000", new HostAddress("::1", 7000).toString());
        assertEquals(Optional.empty(), HostAddress.parse("host:port"));
        assertEquals(Optional.empty(), HostAddress.parse("host:70000"));
        assertEquals(Optional.empty(), HostAddress.parse(""));
    }

    @Test
    void shouldNameTheArgumentAlsoIfItsKeyIsUnknown() {
        assertContains(refusal("foo.bar=1"), "unknown key madeleine.foo (argument foo.bar)");
        assertContains(refusal("session.name.x.y=1"), "madeleine.session.name = {");
        assertContains(refusal("session.name.x.y=1"), "(argument session.name.x.y)");
        assertEquals(List.of("b"), config("networks.x=1", "networks=[b]").networks());
    }

    @Test
    void shouldNameTheArgumentAlsoForAKeyWithinItsObject() {
        assertContains(refusal("channels.x={netwrk=a}"), "madeleine.channels.x.netwrk (argument channels.x)");
        assertContains(refusal("channels.x={hint=ftp}"), "madeleine.channels.x.hint = \"ftp\" (argument channels.x)");
        assertContains(refusal("session={peer-timeouts=1s}"), "(argument session)");
        assertContains(refusal("session.name={x=[{y=1}]}"), "(argument session.name)");
        assertEquals("007", config("session={name=007}").membership().name());
        assertEquals("a", config("session={name=${x}, name=a}").membership().name());
    }

    @Test
    void shouldWriteDurationsInAUnitThatPeopleRead() {
        assertContains(refusal("session.open-timeout=1ns"), "of 1ms or more");
        assertContains(refusal("peer-timeout=1ms"), "of 100ms or more");
    }

    @Test
    void shouldRefuseDurationsWithoutAUnitAndNumbersThatAreNotWhole() throws Exception {
        String expected = "expected a duration with its unit, such as 50us";
        for (String number : List.of("200", " 1.5 ", "0.001")) {
            assertContains(refusal("wait.spin=" + number), "madeleine.wait.spin = ", expected);
        }
        Path file = Files.writeString(directory.resolve("x.conf"), "madeleine.wait.spin = 200");
        assertContains(refusal("--conf=" + file), "madeleine.wait.spin = 200", expected);
        assertEquals(0, config("wait.spin=0").waiting().spinNs());
        assertEquals(
                1_500,
                SessionConfig.from(TestSessions.sources(Map.of("wait.spin", Duration.ofNanos(1_500))))
                        .waiting()
                        .spinNs());
        assertContains(refusal("wait.yields=1.5"), "madeleine.wait.yields = ", "expected a whole number");
        assertContains(refusal("session.size=1.5"), "madeleine.session.size = ", "a whole number");
    }

    @Test
    void shouldRefuseAFileWithoutAKeyOfItsOwn() throws Exception {
        Path file = Files.writeString(directory.resolve("bare.conf"), "wait.mode = spin");
        assertContains(refusal("--conf=" + file), file.toString(), "it has wait", "expected keys under madeleine");
        assertEquals(config(), config("--conf=" + Files.writeString(directory.resolve("empty.conf"), "# nothing")));
    }

    @Test
    void shouldSayThatRankZerosHostNameMeansNoAddress() {
        Membership root = new Membership(
                "s",
                0,
                2,
                new Membership.Contact.StaticHosts(List.of(new HostAddress("a.b..c", 7000), new HostAddress("a", 0))),
                "s");
        SessionConfig some = config();
        SessionConfig config = new SessionConfig(
                root,
                some.timeouts(),
                some.waiting(),
                some.channels(),
                some.networks(),
                some.families(),
                some.selfDescribed(),
                some.faults(),
                some.root());
        assertContains(
                assertThrows(SessionException.class, () -> Joining.join(config, System.nanoTime()))
                        .getMessage(),
                "rank 0 cannot listen at a.b..c:7000: no address is known for the host name a.b..c");
    }
}
