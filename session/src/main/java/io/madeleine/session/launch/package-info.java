/** Starts the processes of launch requests, forwards their output, and ends them. */
@NullMarked
package io.madeleine.session.launch;

import org.jspecify.annotations.NullMarked;
