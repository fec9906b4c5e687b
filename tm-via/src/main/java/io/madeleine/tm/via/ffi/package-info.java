/** The binding of libfabric: offsets, downcalls, and objects that own its handles. */
@NullMarked
package io.madeleine.tm.via.ffi;

import org.jspecify.annotations.NullMarked;
