/**
 * The progress engine of a session: which thread polls, how the others wait, and where the session sleeps. The SPI that
 * networks implement is {@link io.madeleine.pmm.spi}.
 */
@NullMarked
package io.madeleine.pmm;

import org.jspecify.annotations.NullMarked;
