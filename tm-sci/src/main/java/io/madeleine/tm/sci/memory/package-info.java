/** Words in shared memory, and the files that are mapped: the lowest room, which the others stand on. */
@NullMarked
package io.madeleine.tm.sci.memory;

import org.jspecify.annotations.NullMarked;
