/** What Linux offers beyond the JDK: {@code process_vm_readv}, huge pages and {@code poll}, through {@code java.lang.foreign}. */
@NullMarked
package io.madeleine.linux;

import org.jspecify.annotations.NullMarked;
