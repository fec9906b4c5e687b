package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of an {@link Endpoint}.
 *
 * <p>Threading: confined.
 */
final class Sending implements Recovery.Fate {
    /** The least room in a datagram that is worth a STREAM frame. */
    private static final int LEAST_STREAM_ROOM = DatagramLayout.STREAM_BYTES + 8;

    /** Fewer bytes are copied into the datagram: a copy is then as fast as lending the ring. */
    private static final int LEAST_LENT_BYTES = 4_096;

    final SendStream[] streams = new SendStream[DatagramLayout.STREAM_COUNT];
    final Recovery recovery;
    private final EndpointSettings settings;
    private final Receiving receiving;
    private final @Nullable Protection protection;
    private int creditsAgain; // a bit for each stream whose credit was lost
    private long wantSent; // the receiver was told that bytes up to this offset wait to be sent
    private int endHow;
    private int endSentHow;
    private int endAckedHow;

    Sending(EndpointSettings settings, RingPool pool, Receiving receiving, @Nullable Protection protection) {
        this.settings = settings;
        this.receiving = receiving;
        this.protection = protection;
        this.recovery = new Recovery(settings, this);
        for (int i = 0; i < streams.length; i++) {
            int initial = i == DatagramLayout.CONTROL_STREAM ? EndpointSettings.CONTROL_WINDOW_BYTES : 0;
            streams[i] = new SendStream(new Ring(pool, settings.windowBytes(i)), initial);
        }
    }

    void end(int how) {
        endHow |= how;
    }

    /** How many bytes the peer has not acknowledged. */
    long undeliveredBytes() {
        long bytes = 0;
        for (SendStream stream : streams) {
            bytes += stream.length() - stream.base();
        }
        return bytes;
    }

    /** Whether the peer has acknowledged everything, and the end. */
    boolean isDelivered() {
        for (SendStream stream : streams) {
            if (!stream.isAcknowledged()) {
                return false;
            }
        }
        return endAckedHow == endHow;
    }

    /** Whether bytes wait to be sent, for instance until the peer has room. */
    boolean isBlocked() {
        for (SendStream stream : streams) {
            if (stream.unsentBytes() > 0) {
                return true;
            }
        }
        return false;
    }

    void discard() {
        for (SendStream stream : streams) {
            stream.discard();
        }
    }

    /** The peer takes nothing more from this end, but still needs room for what it has sent before. */
    void onPeerClosed() {
        discard();
        for (long number = recovery.sent.oldest(); number < recovery.sent.next(); number++) {
            if (recovery.sent.isInFlight(number)) {
                creditsAgain |= recovery.sent.flags(number) & SentPackets.CREDITS;
            }
        }
        recovery.abandon();
    }

    void rest() {
        for (SendStream stream : streams) {
            stream.rest();
        }
        if (!recovery.isWaiting()) {
            recovery.sent.rest();
        }
    }

    // ---- acknowledgements

    /** Whether the datagram acknowledges only what was sent. */
    boolean permits(ByteBuffer in) {
        for (int at = DatagramLayout.HEADER_BYTES; at < in.limit(); at = Frames.next(in, at)) {
            if (in.get(at) == DatagramLayout.ACK && in.getLong(at + 8) >= recovery.sent.next()) {
                return false;
            }
        }
        return true;
    }

    void acknowledged(ByteBuffer in, int at, long nowNs) {
        long largest = in.getLong(at + 8);
        long delayNs = 1000 * Integer.toUnsignedLong(in.getInt(at + 4));
        long above = largest + 1;
        recovery.beginAck();
        int ranges = in.get(at + 1);
        for (int i = 0; i < ranges; i++) {
            int range = at + DatagramLayout.ACK_BYTES + i * DatagramLayout.ACK_RANGE_BYTES;
            long high = above - Integer.toUnsignedLong(in.getInt(range)) - 1;
            long low = high + 1 - Integer.toUnsignedLong(in.getInt(range + 4));
            recovery.ackRange(low, high);
            above = low;
        }
        recovery.endAck(largest, delayNs, nowNs);
    }

    @Override
    public void acknowledged(long number) {
        for (int i = 0; i < streams.length; i++) {
            int bytes = recovery.sent.length(number, i);
            if (bytes > 0) {
                streams[i].acknowledged(recovery.sent.offset(number, i), bytes);
            }
        }
        int flags = recovery.sent.flags(number);
        endAckedHow |= flags / SentPackets.FINISHED & (DatagramLayout.HOW_FINISHED | DatagramLayout.HOW_CLOSED);
    }

    @Override
    public void lost(long number) {
        for (int i = 0; i < streams.length; i++) {
            int bytes = recovery.sent.length(number, i);
            if (bytes > 0) {
                streams[i].sendAgain(recovery.sent.offset(number, i), bytes);
            }
        }
        int flags = recovery.sent.flags(number);
        creditsAgain |= flags & SentPackets.CREDITS;
        if ((flags & SentPackets.WANT) != 0) {
            wantSent = 0;
        }
        if ((flags & (SentPackets.FINISHED | SentPackets.CLOSED)) != 0) {
            endSentHow = endAckedHow;
        }
    }

    // ---- datagrams

    int produce(long nowNs, Datagram out, long remoteId, boolean isPingDue) {
        boolean sendsData = hasData() && recovery.permits();
        int credits = creditsDue();
        boolean sendsEnd = endHow > endSentHow;
        boolean asks = sendsData || isWantDue() || credits != 0 || sendsEnd || isPingDue || recovery.isProbeDue();
        if (recovery.sent.isExhausted()) {
            return 0;
        }
        if (!asks && !receiving.numbers.isAckDue(nowNs, settings.ackDelayNs())) {
            return recovery.isWaiting() || recovery.rtt.isSampled() ? producePathProbe(nowNs, out, remoteId) : 0;
        }
        if (sendsData && recovery.rtt.isSampled()) {
            int probe = producePathProbe(nowNs, out, remoteId); // a dense stream leaves no pause for the probe
            if (probe > 0) {
                return probe;
            }
        }
        long number = recovery.sent.begin();
        ByteBuffer bytes = begin(out, remoteId, number, recovery.path.bytes());
        if (receiving.numbers.isAckPending()) {
            receiving.numbers.writeAck(bytes, bytes.remaining(), nowNs);
        }
        writeCredits(bytes, number, credits);
        if (sendsEnd) {
            writeEnd(bytes, number);
        }
        boolean sendsWant = asks && writeWant(bytes, number);
        if (sendsData) {
            writeStreams(bytes, out, number);
        }
        if (asks && !sendsData && !sendsWant && credits == 0 && !sendsEnd) {
            bytes.put((byte) DatagramLayout.PING).put((byte) 0).putShort((short) 0);
        }
        return seal(out, number, asks, nowNs);
    }

    private ByteBuffer begin(Datagram out, long remoteId, long number, int limit) {
        int kind = protection == null ? DatagramLayout.DATA : DatagramLayout.SEALED;
        out.begin(kind, remoteId, number, (int) (number - recovery.sent.oldest()));
        return out.bytes().limit(limit - tagBytes());
    }

    private int tagBytes() {
        return protection == null ? 0 : DatagramLayout.TAG_BYTES;
    }

    private int seal(Datagram out) {
        Protection present = protection;
        return present == null ? out.seal() : out.seal(present, recovery.largestAcked());
    }

    private int seal(Datagram out, long number, boolean asks, long nowNs) {
        int length = seal(out);
        if (asks) {
            recovery.sent(number, length, nowNs);
        }
        return length;
    }

    /** Whether there is nothing to send but reports on what was received. */
    boolean hasNothingOfItsOwn() {
        return !(hasData() && recovery.permits())
                && !isWantDue()
                && creditsAgain == 0
                && endHow <= endSentHow
                && !recovery.isProbeDue();
    }

    private boolean hasData() {
        for (SendStream stream : streams) {
            if (stream.hasToSend()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a datagram should go to ask for grants; small additions wait for the next datagram. */
    private boolean isWantDue() {
        SendStream payload = streams[DatagramLayout.LONG_STREAM];
        long wanted = payload.missingUpTo();
        return wanted > wantSent && (payload.isWithinLimit(wantSent) || wanted - wantSent >= payload.capacity() / 4);
    }

    private boolean writeWant(ByteBuffer bytes, long number) {
        long wanted = streams[DatagramLayout.LONG_STREAM].missingUpTo();
        if (wanted <= wantSent) {
            return false;
        }
        bytes.put((byte) DatagramLayout.WANT)
                .put((byte) DatagramLayout.LONG_STREAM)
                .putShort((short) 0)
                .putLong(wanted);
        recovery.sent.flag(number, SentPackets.WANT);
        wantSent = wanted;
        return true;
    }

    private int creditsDue() {
        if (receiving.isPeerClosed() && receiving.isComplete()) {
            return 0; // the peer sends nothing more
        }
        int due = creditsAgain;
        for (int i = 0; i < streams.length; i++) {
            if (receiving.isCreditDue(i)) {
                due |= SentPackets.CREDIT << i;
            }
        }
        return due;
    }

    private void writeCredits(ByteBuffer bytes, long number, int credits) {
        for (int i = 0; i < streams.length; i++) {
            if ((credits & SentPackets.CREDIT << i) != 0) {
                bytes.put((byte) DatagramLayout.CREDIT).put((byte) i).putShort((short) 0);
                bytes.putLong(receiving.streams[i].announce());
            }
        }
        recovery.sent.flag(number, credits);
        creditsAgain = 0;
    }

    private void writeEnd(ByteBuffer bytes, long number) {
        bytes.put((byte) DatagramLayout.END).put((byte) endHow).putShort((short) 0);
        for (SendStream stream : streams) {
            bytes.putLong(stream.length());
        }
        recovery.sent.flag(number, endHow * SentPackets.FINISHED);
        endSentHow = endHow;
    }

    private void writeStreams(ByteBuffer bytes, Datagram out, long number) {
        for (int i = 0; i < streams.length; i++) {
            int room = bytes.remaining() - DatagramLayout.STREAM_BYTES;
            if (!streams[i].hasToSend() || room < LEAST_STREAM_ROOM) {
                continue;
            }
            int length = streams[i].take(evenShare(streams[i].bytesToSend(), Math.min(room, 0xFFFF)));
            long offset = streams[i].rangeOffset();
            bytes.put((byte) DatagramLayout.STREAM)
                    .put((byte) i)
                    .putShort((short) length)
                    .putLong(offset);
            if (!lends(i, offset, length, out)) {
                streams[i].copy(offset, out.memory(), bytes.position(), length);
                bytes.position(bytes.position() + length);
            }
            recovery.sent.carries(number, i, offset, length);
        }
    }

    /** Leaves bytes of the last stream in its ring until the datagram was sent, if it can. A cipher wants a copy. */
    private boolean lends(int stream, long offset, int length, Datagram out) {
        return stream == streams.length - 1
                && length >= LEAST_LENT_BYTES
                && protection == null
                && streams[stream].lend(offset, length, out);
    }

    /** Splits data for several datagrams evenly: none is almost empty, and the receiver works while they leave. */
    private static int evenShare(long bytes, int room) {
        long datagrams = (bytes + room - 1) / room;
        return datagrams <= 1 ? room : (int) ((bytes + datagrams - 1) / datagrams);
    }

    private int producePathProbe(long nowNs, Datagram out, long remoteId) {
        int wanted = recovery.path.wanted(nowNs);
        if (wanted == 0 || recovery.timeoutCount() > 0) {
            return 0;
        }
        long number = recovery.sent.begin();
        ByteBuffer bytes = begin(out, remoteId, number, wanted);
        bytes.put((byte) DatagramLayout.PING).put((byte) 0).putShort((short) 0);
        int end = wanted - tagBytes();
        int zeros = end - bytes.position() - DatagramLayout.PADDING_BYTES;
        bytes.put((byte) DatagramLayout.PADDING).put((byte) 0).putShort((short) zeros);
        out.memory().asSlice(bytes.position(), zeros).fill((byte) 0);
        bytes.position(end);
        recovery.sent.flag(number, SentPackets.PATH_PROBE);
        recovery.path.sent();
        return seal(out, number, true, nowNs);
    }

    int reset(Datagram out, long remoteId) {
        long number = recovery.sent.begin();
        ByteBuffer bytes = begin(out, remoteId, number, DatagramLayout.SAFE_DATAGRAM_BYTES);
        bytes.put((byte) DatagramLayout.RESET).put((byte) 0).putShort((short) 0);
        return seal(out);
    }
}
