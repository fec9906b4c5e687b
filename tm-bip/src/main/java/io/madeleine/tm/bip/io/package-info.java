/** The socket that all peers of an adapter share. */
@NullMarked
package io.madeleine.tm.bip.io;

import org.jspecify.annotations.NullMarked;
