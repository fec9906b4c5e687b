/** Programs with MPI for Java, in both dialects. Each runs with any number of processes. */
@NullMarked
package io.madeleine.samples.mpi;

import org.jspecify.annotations.NullMarked;
