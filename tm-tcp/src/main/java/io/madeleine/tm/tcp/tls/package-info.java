/**
 * TLS for connections: this process's identity, the choice of the implementation, and records on an established socket.
 */
@NullMarked
package io.madeleine.tm.tcp.tls;

import org.jspecify.annotations.NullMarked;
