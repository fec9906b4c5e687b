/** Groups and communicators: which processes take part, and which context keeps their messages apart from others. */
@NullMarked
package io.madeleine.mpi.comm;

import org.jspecify.annotations.NullMarked;
