/**
 * Connections over wide areas on JDK sockets: who knows the secret may connect, and what is said is sealed. Knows nothing of
 * contexts and requests.
 */
@NullMarked
package io.madeleine.nexus.wan;

import org.jspecify.annotations.NullMarked;
