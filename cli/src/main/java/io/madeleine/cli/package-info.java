/** The mad command. */
@NullMarked
package io.madeleine.cli;

import org.jspecify.annotations.NullMarked;
