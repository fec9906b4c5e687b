/** The VIA network family, RDMA through libfabric: its driver and its transmission modules. */
@NullMarked
package io.madeleine.tm.via;

import org.jspecify.annotations.NullMarked;
