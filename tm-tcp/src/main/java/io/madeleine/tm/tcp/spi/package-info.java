/** The SPI of the TCP protocol module: TLS implementations that other modules provide as services. */
@NullMarked
package io.madeleine.tm.tcp.spi;

import org.jspecify.annotations.NullMarked;
