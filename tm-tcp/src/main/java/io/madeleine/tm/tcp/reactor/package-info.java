/** The event loop that the leader runs, and what it watches besides Netty's channels. */
@NullMarked
package io.madeleine.tm.tcp.reactor;

import org.jspecify.annotations.NullMarked;
