/**
 * Encrypted wide-area connections on JDK sockets, between processes that know the secret. This package does not depend
 * on contexts and requests.
 */
@NullMarked
package io.madeleine.nexus.wan;

import org.jspecify.annotations.NullMarked;
