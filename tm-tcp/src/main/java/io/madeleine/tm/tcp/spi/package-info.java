/** What others may bring to the TCP family: an implementation of TLS. */
@NullMarked
package io.madeleine.tm.tcp.spi;

import org.jspecify.annotations.NullMarked;
