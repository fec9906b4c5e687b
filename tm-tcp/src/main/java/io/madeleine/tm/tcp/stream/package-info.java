/** An established connection: its two streams of packets, when it is read and flushed, its loss and its end. */
@NullMarked
package io.madeleine.tm.tcp.stream;

import org.jspecify.annotations.NullMarked;
