/**
 * How a connection begins, the same for every network: identity, proof of the secret, digest of the selection table,
 * pairing, deadlines. {@link io.madeleine.pmm.handshake.ConnectionManager} is one state machine per adapter. A driver
 * feeds it with frames and the time; it opens no socket and reads no clock.
 */
@NullMarked
package io.madeleine.pmm.handshake;

import org.jspecify.annotations.NullMarked;
