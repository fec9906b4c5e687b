/**
 * Downcalls through {@code java.lang.foreign}: {@code process_vm_readv}, {@code mmap} with huge pages, and {@code
 * poll}.
 */
@NullMarked
package io.madeleine.linux;

import org.jspecify.annotations.NullMarked;
