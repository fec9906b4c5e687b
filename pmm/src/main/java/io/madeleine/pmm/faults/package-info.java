/**
 * Faults for tests of programs, on any network: what arrives is delayed, stalls, or is cut off. {@link
 * io.madeleine.pmm.faults.Faults#around} decorates an adapter. Connections without faults stay as they are.
 */
@NullMarked
package io.madeleine.pmm.faults;

import org.jspecify.annotations.NullMarked;
