/** The regression record: runs that are kept, and what has changed since. */
@NullMarked
package io.madeleine.bench.history;

import org.jspecify.annotations.NullMarked;
