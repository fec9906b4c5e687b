package io.madeleine.switching;

import io.madeleine.pmm.WaitHint;

/**
 * Settings of a channel's switch.
 *
 * @param selfDescribed whether each block is preceded by its length, modes and transmission module, so that a wrong
 *     mirror is an error that names the block; equal at both ends
 * @param hint what counts for those who wait on the channel in this process
 * @param peerTimeoutNs how long memory that was posted to a network is waited for at most, {@code madeleine.peer-timeout}
 */
public record SwitchSettings(boolean selfDescribed, WaitHint hint, long peerTimeoutNs) {}
