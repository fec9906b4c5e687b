/** The TCP protocol module and its transmission module {@code tcp/stream}. */
module io.madeleine.tm.tcp {
    requires static org.jspecify;
    requires transitive io.madeleine.pmm;
    requires transitive com.google.guice;
    requires transitive typesafe.config;
    requires jdk.net;
    requires io.netty.transport;
    requires transitive io.netty.handler;
    requires io.netty.codec;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.transport.classes.epoll;
    requires io.netty.transport.classes.io_uring;
    requires io.netty.transport.unix.common;

    exports io.madeleine.tm.tcp;
    exports io.madeleine.tm.tcp.spi;

    uses io.madeleine.tm.tcp.spi.TlsEngine;
}
