/** Making communicators from others: a collective operation that agrees on the context of the new one. */
@NullMarked
package io.madeleine.mpi.creation;

import org.jspecify.annotations.NullMarked;
