package io.madeleine.tm.tcp.tls;

import io.madeleine.tm.tcp.spi.TlsEngine;
import io.netty.handler.ssl.SslHandler;

/**
 * One end of a connection's TLS.
 *
 * <p>Threading: the handler is confined to the event loop.
 *
 * @param handler carries TLS during the handshake
 * @param implementation the implementation of the handler's engine
 */
public record TlsSide(SslHandler handler, TlsEngine implementation) {}
