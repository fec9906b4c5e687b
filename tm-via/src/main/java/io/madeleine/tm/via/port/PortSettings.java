package io.madeleine.tm.via.port;

/**
 * The settings of an endpoint.
 *
 * <p>Threading: immutable.
 *
 * @param messageBytes the size of a posted receive, and so of the longest message
 * @param maxInjectBytes the longest message to inject, if the provider allows as much
 * @param waits whether to open the completion queue with a descriptor to wait on
 * @param receivesAreUnlimited whether the provider takes more receives than it says
 * @param receivesMayWait whether a receive that the provider has no room for can be posted later: it keeps messages for
 *     which no receive is posted
 * @param pollEveryNs how often to poll while operations are outstanding and no thread waits
 * @param pins whether registrations pin their pages, and local memory is registered, too, as with hardware
 * @param strictness restrictions beyond those of the provider
 */
public record PortSettings(
        int messageBytes,
        int maxInjectBytes,
        boolean waits,
        boolean receivesAreUnlimited,
        boolean receivesMayWait,
        long pollEveryNs,
        boolean pins,
        Strictness strictness) {}
