/** The TCP protocol module and its transmission module {@code tcp/stream}. */
@NullMarked
package io.madeleine.tm.tcp;

import org.jspecify.annotations.NullMarked;
