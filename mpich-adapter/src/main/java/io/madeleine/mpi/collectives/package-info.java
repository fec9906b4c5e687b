/**
 * Collective operations as schedules: steps of sends and receives with local work behind each, which any thread that
 * makes progress carries on (Hoefler, Lumsdaine and Rehm: <i>Implementation and Performance Analysis of Non-Blocking
 * Collective Operations for MPI</i>, SC 2007).
 */
@NullMarked
package io.madeleine.mpi.collectives;

import org.jspecify.annotations.NullMarked;
