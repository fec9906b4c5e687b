package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.io.IOException;

/**
 * The link of the transmission module {@code tcp/stream}: the packets of one connection, one behind the other on its
 * socket.
 *
 * <p>Threading: as {@link io.madeleine.pmm.spi.TransmissionLink} says.
 */
public final class TcpStreamLink implements DynamicLink {
    public static final TransmissionCapabilities CAPABILITIES = new TransmissionCapabilities(
            "tcp/stream",
            BufferMode.DYNAMIC,
            LinkMode.BUFFER_GROUP,
            AggregationMode.ASYMMETRIC,
            Long.MAX_VALUE,
            0,
            "any size: small blocks gathered in a buffer, large native ones written and read in place");

    private final LinkReports connection;
    private final TransmissionCapabilities capabilities;
    private final StreamOutput output;
    private final StreamReceiver receiver;

    TcpStreamLink(
            LinkReports connection,
            TransmissionCapabilities capabilities,
            StreamOutput output,
            StreamReceiver receiver) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.output = output;
        this.receiver = receiver;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        if (!connection.canSend()) {
            return LinkStatus.CLOSED;
        }
        try {
            int status = output.send(header, group, trailer, receiver.packets());
            connection.sent(status == LinkStatus.PENDING);
            return status;
        } catch (IOException e) {
            return sendFailed(e);
        }
    }

    private int sendFailed(IOException e) {
        connection.sendFailed(e);
        return LinkStatus.CLOSED;
    }

    @Override
    public long front() {
        output.flushOwn(); // the caller looks for an answer, so its request must leave
        try {
            long front = receiver.front();
            connection.headerIsBuffered(false); // the header, if there was one, is in front now
            if (front == 0 && receiver.hasEnded()) {
                connection.receiveEnded();
                return LinkStatus.CLOSED;
            }
            return front;
        } catch (IOException e) {
            connection.receiveFailed(e);
            return receiver.isExhausted() ? LinkStatus.CLOSED : 0;
        } catch (BrokenStreamException e) {
            connection.broken(e.reason());
            return LinkStatus.CLOSED;
        }
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        try {
            long moved = receiver.receive(group, maxBytes);
            if (moved == 0 && receiver.hasEnded()) {
                connection.receiveEnded();
            }
            return moved;
        } catch (IOException e) {
            connection.receiveFailed(e);
            return 0;
        }
    }

    @Override
    public long skip(long maxBytes) {
        try {
            long dropped = receiver.skip(maxBytes);
            if (dropped == 0 && receiver.hasEnded()) {
                connection.receiveEnded();
            }
            return dropped;
        } catch (IOException e) {
            connection.receiveFailed(e);
            return 0;
        }
    }

    @Override
    public void release() {
        connection.headerIsBuffered(receiver.release());
    }
}
