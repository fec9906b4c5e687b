package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.InternetAddress;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Bounds the answers to addresses that may be invented. The system keeps a datagram to an address of the local network
 * that nobody has for seconds, until it gives up asking who has it. Meanwhile the datagram fills the socket's send
 * buffer, which serves all peers. So such answers may fill a part of it only.
 *
 * <p>Threading: any thread notes the addresses of members; one thread at a time calls the rest.
 */
final class AnswerBudget {
    /** What the system counts for a short datagram, at most. */
    static final int DATAGRAM_BYTES = 1_024;

    /** So long the system keeps a datagram: it asks three times, once a second (neigh/mcast_solicit, retrans_time). */
    static final long KEPT_NS = 3_000_000_000L;

    /** Answers may fill one part of the send buffer in so many, at once and again within the time above. */
    static final int SHARE = 4;

    /** So many addresses are remembered from which a cookie has come back. */
    static final int MOST_PROVED = 1_024;

    private final double most;
    private final Set<InetAddress> members = ConcurrentHashMap.newKeySet();
    private final Map<InetAddress, Boolean> proved = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Boolean> eldest) {
            return size() > MOST_PROVED;
        }
    };
    private double left;
    private long filledNs;

    AnswerBudget(int sendBufferBytes, long nowNs) {
        this.most = Math.max(1, sendBufferBytes / SHARE / DATAGRAM_BYTES);
        this.left = most;
        this.filledNs = nowNs;
    }

    /** A process of the session is at this address: answers to it need no budget. */
    void member(InetAddress address) {
        members.add(address);
    }

    /** As {@link #member(InetAddress)}, for those of a published address that are no host names. */
    void member(String published) {
        try {
            InternetAddress.parse(published, BipPmm.NAME).hosts().forEach(this::memberIfLiteral);
        } catch (IllegalArgumentException _) {
            // the failure of the request tells
        }
    }

    private void memberIfLiteral(String host) {
        try {
            members.add(InetAddress.ofLiteral(host));
        } catch (IllegalArgumentException _) {
            // a host name: to resolve it may take long
        }
    }

    /** A cookie has come back from there, so somebody has the address. */
    void proved(InetAddress address) {
        proved.put(address, true);
    }

    /** Whether an answer may go there now; if so, it counts. */
    boolean takeFor(InetAddress address, long nowNs) {
        if (address.isLoopbackAddress() || members.contains(address) || proved.get(address) != null) {
            return true;
        }
        left = Math.min(most, left + most * (nowNs - filledNs) / KEPT_NS);
        filledNs = nowNs;
        if (left < 1) {
            return false;
        }
        left--;
        return true;
    }
}
