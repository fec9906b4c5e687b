/**
 * Programs and libraries by others that bring messages from one process to another, to be measured beside Madeleine's
 * networks.
 */
@NullMarked
package io.madeleine.bench.peer;

import org.jspecify.annotations.NullMarked;
