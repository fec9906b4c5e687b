package io.madeleine.switching;

/**
 * Settings of the switch.
 *
 * @param selfDescribed whether each block is preceded by its length, modes and transmission module, so that a wrong
 *     mirror is an error that names the block; equal at both ends
 */
public record SwitchSettings(boolean selfDescribed) {}
