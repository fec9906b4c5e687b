/** The TLS handshake from which the keys of encrypted connections come. It has no socket: bytes go in and out. */
@NullMarked
package io.madeleine.tm.bip.tls;

import org.jspecify.annotations.NullMarked;
