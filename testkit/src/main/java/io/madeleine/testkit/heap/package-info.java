/**
 * A network through the heap of one JVM: a complete protocol module in its smallest form, for authors of modules to
 * read and copy. The document "Write your own network" walks through it.
 */
@NullMarked
package io.madeleine.testkit.heap;

import org.jspecify.annotations.NullMarked;
