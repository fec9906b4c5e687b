/** {@code mad report}: what each process of a running program waits for. */
@NullMarked
package io.madeleine.mpi.report;

import org.jspecify.annotations.NullMarked;
