/** Connections and their transmission modules: the pair segment, the ring, the cells and single copy. */
@NullMarked
package io.madeleine.tm.sci.link;

import org.jspecify.annotations.NullMarked;
