/** The configuration of the TCP protocol module. */
@NullMarked
package io.madeleine.tm.tcp.config;

import org.jspecify.annotations.NullMarked;
