/** An endpoint at work: its operations and their completions, its memory, its posted receives, and its peers. */
@NullMarked
package io.madeleine.tm.via.port;

import org.jspecify.annotations.NullMarked;
