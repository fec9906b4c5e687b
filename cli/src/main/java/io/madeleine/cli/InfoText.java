package io.madeleine.cli;

import io.madeleine.pmm.WaitHint;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.session.ChannelConfig;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import io.madeleine.switching.SelectionTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Formats a session's description as text.
 *
 * <p>Threading: confined to caller.
 */
final class InfoText {
    private final StringBuilder text = new StringBuilder();

    private InfoText() {}

    static String of(SessionInfo info) {
        InfoText text = new InfoText();
        text.line(Version.line());
        text.line("");
        text.line("Networks, best first");
        info.protocols().forEach(text::network);
        text.line("");
        text.line("Channels");
        info.channels().forEach(channel -> text.channel(channel, info));
        text.line("");
        text.line("Selection: which transmission module takes a block, between two processes configured like this one");
        text.selection(info);
        text.line("");
        text.line("Waiting: " + waiting(info.waiting()));
        return text.text.toString();
    }

    private void line(String line) {
        text.append(line.stripTrailing()).append('\n');
    }

    private void network(Protocol protocol) {
        Availability found = protocol.examination().get();
        line("  %-5s %-4s %s".formatted(protocol.name(), found.on() ? "on" : "off", found.reason()));
        if (!found.remedy().isEmpty()) {
            line("             to mend it: " + found.remedy());
        }
        found.details().forEach(detail -> line("             " + detail));
        protocol.inventory().get().forEach(offer -> line("             " + offer));
        if (!protocol.preferred()) {
            line("             auto does not take it: it is not in madeleine.networks");
        }
        if (!protocol.adapters().isEmpty()) {
            line("             adapters: " + String.join(", ", protocol.adapters()));
        }
        if (!protocol.nativeModules().isEmpty()) {
            line("             native access for: " + String.join(", ", protocol.nativeModules()));
        }
        for (SessionInfo.Threshold threshold : protocol.thresholds()) {
            line("             %s = %s (%s)".formatted(threshold.key(), threshold.value(), threshold.source()));
        }
        protocol.modules().forEach(this::module);
        for (String adapter : protocol.adaptersApart()) {
            line("             adapter " + adapter + " has others:");
            protocol.modulesByAdapter().getOrDefault(adapter, List.of()).forEach(this::module);
        }
    }

    private void module(TransmissionCapabilities module) {
        line("             %-12s %s".formatted(module.id(), module.summary()));
        line("             %-12s %s".formatted("", capabilities(module)));
    }

    private static String capabilities(TransmissionCapabilities module) {
        List<String> words = new ArrayList<>();
        words.add(
                module.bufferBytes() > 0 ? "static buffers of " + Sizes.text(module.bufferBytes()) : "dynamic buffers");
        words.add(
                switch (module.linkMode()) {
                    case BUFFER -> "one by one";
                    case BUFFER_GROUP -> "in groups";
                });
        words.add(module.aggregation().name().toLowerCase(Locale.ROOT));
        words.add("blocks of "
                + (module.maxBlockBytes() == Long.MAX_VALUE
                        ? "any size"
                        : "up to " + Sizes.text(module.maxBlockBytes())));
        if (module.maxSaferBlockBytes() != module.maxBlockBytes()) {
            words.add("SAFER ones of up to " + Sizes.text(module.maxSaferBlockBytes()));
        }
        return String.join(", ", words);
    }

    private void channel(ChannelConfig channel, SessionInfo info) {
        String network = channel.automatic()
                ? "auto: the best network which both ends share, here "
                        + info.protocolOf(channel)
                                .map(Protocol::name)
                                .orElse("none, since all of madeleine.networks are off: a session of several processes"
                                        + " fails")
                : channel.network() + (info.protocolOf(channel).isPresent() ? "" : ", which is off: a session fails");
        line("  %-12s %s%s"
                .formatted(
                        channel.name(),
                        network,
                        (channel.automatic() ? "" : ", adapter " + channel.adapter())
                                + (channel.hint() == WaitHint.AUTO
                                        ? ""
                                        : ", hint " + channel.hint().name().toLowerCase(Locale.ROOT))));
    }

    private void selection(SessionInfo info) {
        List<String[]> rows = new ArrayList<>();
        for (Protocol protocol : info.protocols()) {
            addRows(rows, protocol.name(), protocol.selection());
            for (String adapter : protocol.adaptersApart()) {
                addRows(rows, protocol.name() + "/" + adapter, protocol.selection(adapter));
            }
        }
        rows.addFirst(new String[] {"", "block", "modes", "module", "buffer management"});
        for (String[] row : rows) {
            line("  %-5s %-22s %-14s %-12s %s".formatted((Object[]) row));
        }
    }

    private static void addRows(List<String[]> rows, String name, Optional<SelectionTable> table) {
        for (SelectionTable.Row row : table.map(SelectionTable::rows).orElse(List.of())) {
            rows.add(new String[] {name, range(row), row.modes(), row.moduleId(), row.bufferManagement()});
        }
    }

    private static String range(SelectionTable.Row row) {
        if (row.toBytes() == Long.MAX_VALUE) {
            return row.fromBytes() == 0 ? "any size" : "from " + Sizes.text(row.fromBytes());
        }
        return Sizes.text(row.fromBytes()) + " to " + Sizes.text(row.toBytes());
    }

    private static String waiting(WaitPolicy policy) {
        return switch (policy.mode()) {
            case SPIN -> "spin (polls without pause)";
            case BLOCK -> "block (sleeps at once)";
            case ADAPTIVE ->
                "adaptive (polls for %d us where there are processors enough, yields %d times, then sleeps)"
                        .formatted(policy.spinNs() / 1000, policy.yieldRounds());
        };
    }
}
