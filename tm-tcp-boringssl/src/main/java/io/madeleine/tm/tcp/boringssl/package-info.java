/**
 * TLS for the TCP protocol module with BoringSSL, through Netty's native library: two to three times as fast as the
 * JDK's TLS.
 */
@NullMarked
package io.madeleine.tm.tcp.boringssl;

import org.jspecify.annotations.NullMarked;
