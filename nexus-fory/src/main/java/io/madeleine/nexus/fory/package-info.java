/** Typed services whose types may differ in version between the two ends, by Apache Fory. */
@NullMarked
package io.madeleine.nexus.fory;

import org.jspecify.annotations.NullMarked;
