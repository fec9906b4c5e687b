/**
 * The switch (paper, sections 3.1 and 4): {@link io.madeleine.switching.SelectionTable} says which transmission module
 * takes a block, {@link io.madeleine.switching.SwitchedChannel} is the channel that users hold, and behind it each
 * connection has a sending and a receiving half that drive the buffer management modules.
 */
@NullMarked
package io.madeleine.switching;

import org.jspecify.annotations.NullMarked;
