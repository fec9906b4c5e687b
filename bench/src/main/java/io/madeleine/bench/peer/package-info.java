/** Other people's ways from one process to another, to be measured beside Madeleine's networks. */
@NullMarked
package io.madeleine.bench.peer;

import org.jspecify.annotations.NullMarked;
