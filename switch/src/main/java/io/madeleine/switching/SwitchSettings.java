package io.madeleine.switching;

import io.madeleine.pmm.WaitHint;

/**
 * Settings of a channel's switch.
 *
 * @param selfDescribed whether a descriptor (length, modes, transmission module) precedes each block, so that the error
 *     for an unpack that does not mirror the pack names the block; must be equal at both ends
 * @param hint what waits on this channel optimise for in this process: latency, processor time or throughput
 * @param peerTimeoutNs the longest wait for a network to release posted memory, {@code madeleine.peer-timeout}, in
 *     nanoseconds
 */
public record SwitchSettings(boolean selfDescribed, WaitHint hint, long peerTimeoutNs) {}
