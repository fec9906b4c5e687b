/** TLS for the TCP protocol module with BoringSSL, through Netty's native library. */
module io.madeleine.tm.tcp.boringssl {
    requires static org.jspecify;
    requires transitive io.madeleine.tm.tcp;
    requires transitive io.netty.handler;
    requires io.netty.common;
    requires io.netty.tcnative.classes.openssl;

    exports io.madeleine.tm.tcp.boringssl;

    provides io.madeleine.tm.tcp.spi.TlsEngine with
            io.madeleine.tm.tcp.boringssl.BoringSslEngine;
}
