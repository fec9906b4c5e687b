/** How a process finds what has arrived, sleeps, and is woken: inbox, watch list and doorbell. */
@NullMarked
package io.madeleine.tm.sci.wake;

import org.jspecify.annotations.NullMarked;
