package io.madeleine.session.network;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.session.bootstrap.ControlMessage;
import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.ConfigReader;
import io.madeleine.session.config.SharedSetting;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The description of itself that a process sends to the others before they connect.
 *
 * <p>Threading: immutable.
 *
 * @param identity the process's identity on the wire
 * @param keys the public part of its keys
 * @param host the key of its host
 * @param processors on which it may run
 * @param preference the networks that "auto" prefers in this process, best first
 * @param channels its channels, ordered by name
 * @param adapters the adapters that it has opened
 * @param shared its values of the keys that need the same value in all processes
 */
public record ProcessDescription(
        ProcessIdentity identity,
        PublishedKeys keys,
        String host,
        Processors processors,
        List<String> preference,
        List<ChannelSettings> channels,
        List<AdapterDescription> adapters,
        List<SharedSetting> shared) {
    private static final int FORMAT = 6;
    private static final int MAX_ENTRIES = 1024;

    /**
     * One adapter: its network, name and address, and its transmission modules with the thresholds configured for it.
     */
    public record AdapterDescription(
            String network, String adapter, String address, List<TransmissionCapabilities> modules) {}

    /** Writes one entry of a list. */
    private interface Writer<T> {
        void write(DataOutputStream out, T entry) throws IOException;
    }

    private interface Reader<T> {
        T read(DataInputStream in) throws IOException;
    }

    /** The adapter that the process uses for a channel over a network; empty if it has none. */
    Optional<AdapterDescription> adapter(String network, ChannelSettings channel) {
        return adapters.stream()
                .filter(description -> description.network.equals(network))
                .filter(description ->
                        channel.adapter().equals(ConfigReader.AUTO) || description.adapter.equals(channel.adapter()))
                .findFirst();
    }

    /**
     * The transmission modules that the process uses for a channel over a network; empty if it has no adapter for it.
     */
    List<TransmissionCapabilities> modules(String network, String channelName) {
        return channel(channelName)
                .flatMap(channel -> adapter(network, channel))
                .map(AdapterDescription::modules)
                .orElse(List.of());
    }

    /** The channel with this name; empty if there is none. */
    Optional<ChannelSettings> channel(String name) {
        return channels.stream().filter(channel -> channel.name().equals(name)).findFirst();
    }

    /**
     * The process's value of a key that needs the same value in all processes; empty if the process does not know the
     * key.
     */
    Optional<String> shared(String key) {
        return SharedSetting.value(shared, key);
    }

    /**
     * Compares the shared settings of all processes.
     *
     * @param self this process's rank
     * @param descriptions the descriptions of all processes, by rank
     * @throws SessionException if a process has another value than this one
     */
    public static void checkShared(int self, List<ProcessDescription> descriptions) {
        for (SharedSetting own : descriptions.get(self).shared()) {
            for (int rank = 0; rank < descriptions.size(); rank++) {
                String there = descriptions.get(rank).shared(own.key()).orElse("missing");
                if (!there.equals(own.value())) {
                    throw new SessionException(own.key() + " is " + own.value() + " in rank " + self + " and " + there
                            + " in rank " + rank + ": it needs the same value in all processes");
                }
            }
        }
    }

    /**
     * Encodes the description.
     *
     * @throws IOException if it does not fit into a control message
     */
    public byte[] encode() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(FORMAT);
        out.writeLong(identity.id());
        out.writeInt(identity.incarnation());
        out.writeUTF(keys.publicKey());
        out.writeUTF(keys.number());
        out.writeUTF(host);
        out.writeUTF(processors.list());
        writeAll(out, preference, DataOutputStream::writeUTF);
        writeAll(out, channels, (to, channel) -> {
            to.writeUTF(channel.name());
            to.writeUTF(channel.network());
            to.writeUTF(channel.adapter());
        });
        writeAll(out, adapters, (to, adapter) -> {
            to.writeUTF(adapter.network);
            to.writeUTF(adapter.adapter);
            to.writeUTF(adapter.address);
            writeAll(to, adapter.modules, ProcessDescription::writeModule);
        });
        writeAll(out, shared, (to, setting) -> {
            to.writeUTF(setting.key());
            to.writeUTF(setting.value());
        });
        if (bytes.size() > ControlMessage.MAX_VALUE_BYTES) {
            throw new IOException("the description of this process's channels and adapters has " + bytes.size()
                    + " bytes, expected at most " + ControlMessage.MAX_VALUE_BYTES
                    + ": configure fewer channels or adapters");
        }
        return bytes.toByteArray();
    }

    /**
     * Decodes a description.
     *
     * @throws IOException if the bytes are not a description of this format
     */
    public static ProcessDescription decode(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        int format = in.readByte();
        if (format != FORMAT) {
            throw new IOException("a process describes itself in format " + format + ", expected " + FORMAT
                    + ": all processes need the same release of Madeleine");
        }
        return new ProcessDescription(
                new ProcessIdentity(in.readLong(), in.readInt()),
                readKeys(in),
                in.readUTF(),
                new Processors(in.readUTF()),
                readAll(in, from -> from.readUTF()),
                readAll(in, from -> new ChannelSettings(from.readUTF(), from.readUTF(), from.readUTF())),
                readAll(
                        in,
                        from -> new AdapterDescription(
                                from.readUTF(),
                                from.readUTF(),
                                from.readUTF(),
                                readAll(from, ProcessDescription::readModule))),
                readAll(in, from -> new SharedSetting(from.readUTF(), from.readUTF())));
    }

    private static PublishedKeys readKeys(DataInputStream in) throws IOException {
        try {
            return new PublishedKeys(in.readUTF(), in.readUTF());
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static void writeModule(DataOutputStream out, TransmissionCapabilities module) throws IOException {
        out.writeUTF(module.id());
        out.writeUTF(module.bufferMode().name());
        out.writeUTF(module.linkMode().name());
        out.writeUTF(module.aggregation().name());
        out.writeLong(module.maxBlockBytes());
        out.writeLong(module.maxSaferBlockBytes());
        out.writeInt(module.bufferBytes());
        out.writeUTF(module.summary());
    }

    private static TransmissionCapabilities readModule(DataInputStream in) throws IOException {
        try {
            return new TransmissionCapabilities(
                    in.readUTF(),
                    BufferMode.valueOf(in.readUTF()),
                    LinkMode.valueOf(in.readUTF()),
                    AggregationMode.valueOf(in.readUTF()),
                    in.readLong(),
                    in.readLong(),
                    in.readInt(),
                    in.readUTF());
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static <T> void writeAll(DataOutputStream out, List<T> entries, Writer<T> writer) throws IOException {
        if (entries.size() > MAX_ENTRIES) {
            throw new IOException("the description of this process has a list of " + entries.size()
                    + " channels, adapters or others, expected at most " + MAX_ENTRIES
                    + ": configure fewer channels or adapters");
        }
        out.writeShort(entries.size());
        for (T entry : entries) {
            writer.write(out, entry);
        }
    }

    private static <T> List<T> readAll(DataInputStream in, Reader<T> reader) throws IOException {
        int count = in.readUnsignedShort();
        if (count > MAX_ENTRIES) {
            throw new IOException(count + " entries in a list, expected at most " + MAX_ENTRIES);
        }
        List<T> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(reader.read(in));
        }
        return List.copyOf(entries);
    }
}
