/** The SCI family, shared memory inside one host: its protocol module and its transmission modules. */
@NullMarked
package io.madeleine.tm.sci;

import org.jspecify.annotations.NullMarked;
