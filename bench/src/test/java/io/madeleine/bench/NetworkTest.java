package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.peer.Peers;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Networks and peers by the names that people give them. */
class NetworkTest {
    private static Network network(String asked, String... arguments) {
        return Network.of(asked, List.of(arguments));
    }

    private static String complaint(String asked, String... arguments) {
        Exception e = assertThrows(Network.UnknownNetworkException.class, () -> network(asked, arguments));
        return String.valueOf(e.getMessage());
    }

    @Test
    void shouldTakeAFamilyAsItIs() {
        Network tcp = network("tcp");
        assertEquals("tcp", tcp.title());
        assertEquals(List.of(), tcp.settings());
        assertEquals(List.of("channels.c.network=tcp"), tcp.ofChannel("c"));
    }

    @Test
    void shouldTakeTheSettingsOfAProviderThatIsNamedBehindTheFamily() {
        Network epoll = network("tcp:epoll");
        assertEquals("tcp:epoll", epoll.title());
        assertEquals("tcp", epoll.family());
        assertEquals(List.of("tm.tcp.io=epoll"), epoll.settings());
        assertTrue(
                epoll.protocol().nativeModules().contains("io.netty.transport.classes.epoll"),
                epoll.protocol().nativeModules().toString());
        assertEquals(
                List.of("tm.sci.dma.single-copy=off"), network("sci:two-copies").settings());
        assertEquals(2, network("sci:two-copies").protocol().modules().size());
    }

    @Test
    void shouldTakeProvidersThatTheUserHasNamed() {
        Network few = network("sci:few-cells", "tm.sci.providers.few-cells.regular.cells=4");
        assertEquals(List.of("tm.sci.regular.cells=4"), few.settings());
    }

    @Test
    void shouldTakeAnAdapterThatIsNamedBehindTheFamily() {
        Network second = network("tcp:second", "tm.tcp.adapters.second={bind=\"127.0.0.1\",port=0,advertise=auto}");
        assertEquals(Optional.of("second"), second.adapter());
        assertEquals(
                List.of("channels.c.network=tcp", "channels.c.adapter=second"),
                second.with(List.of("tm.tcp.adapters.second={bind=\"127.0.0.1\",port=0,advertise=auto}"))
                        .ofChannel("c"));
    }

    @Test
    void shouldTellTheProviderFromTheFamilyInAName() {
        assertEquals("tcp;ofi_rxm", Network.provider("via:tcp;ofi_rxm"));
        assertEquals("", Network.provider("via"));
    }

    @Test
    void shouldSayWhichNamesThereAreWhenOneIsUnknown() {
        String network = complaint("pigeon");
        assertTrue(network.startsWith("pigeon: there is no such network, expected some of "), network);
        assertTrue(network.contains("sci") && network.contains("tcp"), network);
        String provider = complaint("tcp:epol");
        assertTrue(
                provider.startsWith("tcp:epol: tcp has no provider or adapter epol, expected one of default, epoll,"
                        + " io_uring, nio;"),
                provider);
        assertTrue(provider.endsWith("did you mean epoll?"), provider);
    }

    @Test
    void shouldSayWhatAPeerTakesBehindItsName() {
        assertEquals(Optional.empty(), Peers.complaint("openmpi:two-copies"));
        assertEquals(
                Optional.of("openmpi:tpc: openmpi takes one of tcp, cma, two-copies; did you mean tcp?"),
                Peers.complaint("openmpi:tpc"));
        assertEquals(Optional.of("nio:x: nio takes nothing behind its name"), Peers.complaint("nio:x"));
        assertTrue(Peers.complaint("pigeon:tcp").orElse("").contains("expected some of aeron-ipc,aeron-udp"));
    }
}
