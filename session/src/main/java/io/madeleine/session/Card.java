package io.madeleine.session;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a process tells the others of itself before they connect.
 *
 * <p>Threading: immutable.
 *
 * @param identity who it is
 * @param keys what proves who it is
 * @param host the key of its host
 * @param processors on which it may run
 * @param preference what "auto" prefers there, best first
 * @param channels its channels, ordered by name
 * @param adapters the adapters it has opened
 * @param shared what needs the same value in all processes
 */
record Card(
        ProcessIdentity identity,
        MemberKeys.Part keys,
        String host,
        Processors processors,
        List<String> preference,
        List<ChannelConfig> channels,
        List<AdapterCard> adapters,
        List<SharedSetting> shared) {
    private static final int FORMAT = 6;
    private static final int MAX_ENTRIES = 1024;

    /** One adapter: its network, name and address, and its transmission modules with the thresholds configured there. */
    record AdapterCard(String network, String adapter, String address, List<TransmissionCapabilities> modules) {}

    /** Writes and reads one part of a card. */
    private interface Writer<T> {
        void write(DataOutputStream out, T entry) throws IOException;
    }

    private interface Reader<T> {
        T read(DataInputStream in) throws IOException;
    }

    /** The adapter with which the process serves a channel over a network; empty if it has none. */
    Optional<AdapterCard> adapter(String network, ChannelConfig channel) {
        return adapters.stream()
                .filter(card -> card.network.equals(network))
                .filter(card -> channel.adapter().equals(ConfigReader.AUTO) || card.adapter.equals(channel.adapter()))
                .findFirst();
    }

    /** The transmission modules with which it serves a channel over a network; empty if it has no adapter for that. */
    List<TransmissionCapabilities> modules(String network, String channelName) {
        return channel(channelName)
                .flatMap(channel -> adapter(network, channel))
                .map(AdapterCard::modules)
                .orElse(List.of());
    }

    /** The channel of that name. */
    Optional<ChannelConfig> channel(String name) {
        return channels.stream().filter(channel -> channel.name().equals(name)).findFirst();
    }

    /** The value of a key that needs the same one in all processes; empty if the process does not know of it. */
    Optional<String> shared(String key) {
        return SharedSetting.value(shared, key);
    }

    /** The card as bytes. */
    byte[] encode() throws IOException {
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
            writeAll(to, adapter.modules, Card::writeModule);
        });
        writeAll(out, shared, (to, setting) -> {
            to.writeUTF(setting.key());
            to.writeUTF(setting.value());
        });
        if (bytes.size() > ControlMessage.MAX_VALUE_BYTES) {
            throw new IOException("what this process tells of its channels and adapters has " + bytes.size()
                    + " bytes, more than " + ControlMessage.MAX_VALUE_BYTES + ": configure fewer channels or adapters");
        }
        return bytes.toByteArray();
    }

    /**
     * Reads a card.
     *
     * @throws IOException if it is not one
     */
    static Card decode(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        int format = in.readByte();
        if (format != FORMAT) {
            throw new IOException("it is written in format " + format + ", expected " + FORMAT
                    + "; all processes need the same release of Madeleine");
        }
        return new Card(
                new ProcessIdentity(in.readLong(), in.readInt()),
                readKeys(in),
                in.readUTF(),
                new Processors(in.readUTF()),
                readAll(in, from -> from.readUTF()),
                readAll(in, from -> new ChannelConfig(from.readUTF(), from.readUTF(), from.readUTF())),
                readAll(
                        in,
                        from -> new AdapterCard(
                                from.readUTF(), from.readUTF(), from.readUTF(), readAll(from, Card::readModule))),
                readAll(in, from -> new SharedSetting(from.readUTF(), from.readUTF())));
    }

    private static MemberKeys.Part readKeys(DataInputStream in) throws IOException {
        try {
            return new MemberKeys.Part(in.readUTF(), in.readUTF());
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
