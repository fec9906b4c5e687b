/** The SCI network family, shared memory inside one host: its driver and its transmission modules. */
@NullMarked
package io.madeleine.tm.sci;

import org.jspecify.annotations.NullMarked;
