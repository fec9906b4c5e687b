/** The TCP family: its protocol module and its transmission modules. */
@NullMarked
package io.madeleine.tm.tcp;

import org.jspecify.annotations.NullMarked;
