/**
 * The device: messages with matching between the processes of one session, over one channel (MPICH's {@code ch_mad} of
 * RR-3976, section 5.3.1; matching and eager messages after <i>Nemesis</i>, Buntinas et al., 2006).
 */
@NullMarked
package io.madeleine.mpi.device;

import org.jspecify.annotations.NullMarked;
