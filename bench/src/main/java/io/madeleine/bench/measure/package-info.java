/** How anything is measured: the loops of the two processes, what they exchange, and the order of things. */
@NullMarked
package io.madeleine.bench.measure;

import org.jspecify.annotations.NullMarked;
