/** The protocol without socket, engine or clock: datagrams in, datagrams out, and the time of the next call. */
@NullMarked
package io.madeleine.tm.bip.protocol;

import org.jspecify.annotations.NullMarked;
