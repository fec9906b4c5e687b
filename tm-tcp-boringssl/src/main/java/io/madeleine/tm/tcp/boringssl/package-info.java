/** TLS of the TCP family by BoringSSL, through Netty's native library: two to three times the JDK's speed. */
@NullMarked
package io.madeleine.tm.tcp.boringssl;

import org.jspecify.annotations.NullMarked;
