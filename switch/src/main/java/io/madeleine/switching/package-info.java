/**
 * The switch (paper, sections 3.1 and 4). {@link io.madeleine.switching.SelectionTable} selects the transmission module
 * for a block. {@link io.madeleine.switching.SwitchedChannel} implements the channel that users hold. Each of its
 * connections has a sending and a receiving half, which drive the buffer management modules.
 */
@NullMarked
package io.madeleine.switching;

import org.jspecify.annotations.NullMarked;
