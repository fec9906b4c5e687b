/** What all rooms of the MPI engine share: the classes of errors. */
@NullMarked
package io.madeleine.mpi;

import org.jspecify.annotations.NullMarked;
