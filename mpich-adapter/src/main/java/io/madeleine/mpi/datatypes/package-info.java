/** Datatypes: type maps as runs of bytes, the memory of a buffer, reductions. */
@NullMarked
package io.madeleine.mpi.datatypes;

import org.jspecify.annotations.NullMarked;
