/** Typed services whose types evolve, by Apache Fory: ends of different versions understand each other. */
@NullMarked
package io.madeleine.nexus.fory;

import org.jspecify.annotations.NullMarked;
