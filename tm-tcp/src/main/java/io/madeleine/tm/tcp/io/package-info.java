/** Established sockets, one class for each I/O transport, and the buffers of what is read and written. */
@NullMarked
package io.madeleine.tm.tcp.io;

import org.jspecify.annotations.NullMarked;
