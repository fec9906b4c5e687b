/**
 * How a connection begins, for every network alike: identity, proof of the secret, digest of the selection table, pairing,
 * deadlines. {@link io.madeleine.pmm.handshake.ConnectionManager} is one state machine per adapter, which a driver feeds with
 * frames and the time; it opens no socket and reads no clock.
 */
@NullMarked
package io.madeleine.pmm.handshake;

import org.jspecify.annotations.NullMarked;
