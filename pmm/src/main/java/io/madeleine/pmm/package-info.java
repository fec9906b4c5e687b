/**
 * The progress engine of a session: who polls, who waits, and where the session sleeps. The SPI that networks implement
 * is in {@link io.madeleine.pmm.spi}.
 */
@NullMarked
package io.madeleine.pmm;

import org.jspecify.annotations.NullMarked;
