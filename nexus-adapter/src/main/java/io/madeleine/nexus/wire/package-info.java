/**
 * What requests are on their way: their layout, numbers and names, and the memory of their arguments. This package does
 * not depend on contexts.
 */
@NullMarked
package io.madeleine.nexus.wire;

import org.jspecify.annotations.NullMarked;
