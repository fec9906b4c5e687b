package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.spi.TlsEngine;
import io.netty.handler.ssl.SslHandler;

/**
 * One end of a connection's TLS.
 *
 * @param handler carries it as long as the handshake lasts
 * @param implementation whose it is
 */
record TlsSide(SslHandler handler, TlsEngine implementation) {}
