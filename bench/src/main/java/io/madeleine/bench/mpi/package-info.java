/** The benchmarks of MPI, after those of OSU: ours through the package {@code mpi}, and the process that runs them. */
@NullMarked
package io.madeleine.bench.mpi;

import org.jspecify.annotations.NullMarked;
