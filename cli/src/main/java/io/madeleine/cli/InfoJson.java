package io.madeleine.cli;

import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValueFactory;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.session.ChannelConfig;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import io.madeleine.switching.SelectionTable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Formats a session's description as JSON.
 *
 * <p>Threading: stateless.
 */
final class InfoJson {
    private InfoJson() {}

    static String of(SessionInfo info) {
        Map<String, Object> all = Map.of(
                "version", Version.number(),
                "networks", info.protocols().stream().map(InfoJson::network).toList(),
                "channels",
                        info.channels().stream()
                                .map(channel -> channel(channel, info))
                                .toList(),
                "wait",
                        Map.of(
                                "mode", word(info.waiting().mode()),
                                "spinNs", info.waiting().spinNs(),
                                "yields", info.waiting().yieldRounds()));
        return ConfigValueFactory.fromMap(all)
                        .render(ConfigRenderOptions.concise().setFormatted(true))
                + "\n";
    }

    private static Map<String, Object> network(Protocol protocol) {
        Map<String, Object> all = new TreeMap<>(selection(protocol));
        Availability found = protocol.examination().get();
        all.put("on", found.on());
        all.put("reason", found.reason());
        all.put("remedy", found.remedy());
        all.put("details", found.details());
        all.put("inventory", protocol.inventory().get());
        Map<String, Object> apart = new TreeMap<>();
        protocol.adaptersApart()
                .forEach(adapter -> apart.put(
                        adapter,
                        protocol.modulesByAdapter().getOrDefault(adapter, List.of()).stream()
                                .map(InfoJson::module)
                                .toList()));
        all.put("transmissionModulesOf", apart);
        return all;
    }

    private static Map<String, Object> selection(Protocol protocol) {
        return Map.of(
                "name", protocol.name(),
                "on", protocol.on(),
                "preferred", protocol.preferred(),
                "adapters", protocol.adapters(),
                "nativeModules", protocol.nativeModules(),
                "thresholds",
                        protocol.thresholds().stream()
                                .map(threshold -> Map.of(
                                        "key",
                                        threshold.key(),
                                        "value",
                                        threshold.value(),
                                        "source",
                                        threshold.source()))
                                .toList(),
                "transmissionModules",
                        protocol.modules().stream().map(InfoJson::module).toList(),
                "selection",
                        protocol.selection().map(SelectionTable::rows).orElse(List.of()).stream()
                                .map(InfoJson::row)
                                .toList());
    }

    private static Map<String, Object> module(TransmissionCapabilities module) {
        return withBound(
                "maxSaferBlockBytes",
                module.maxSaferBlockBytes(),
                withBound(
                        "maxBlockBytes",
                        module.maxBlockBytes(),
                        Map.of(
                                "id", module.id(),
                                "bufferMode", word(module.bufferMode()),
                                "linkMode", word(module.linkMode()),
                                "aggregation", word(module.aggregation()),
                                "bufferBytes", module.bufferBytes(),
                                "summary", module.summary())));
    }

    private static Map<String, Object> row(SelectionTable.Row row) {
        return withBound(
                "toBytes",
                row.toBytes(),
                Map.of(
                        "fromBytes", row.fromBytes(),
                        "modes", row.modes(),
                        "transmissionModule", row.moduleId(),
                        "bufferManagement", row.bufferManagement()));
    }

    /** Adds a bound unless it is unlimited. */
    private static Map<String, Object> withBound(String key, long bound, Map<String, Object> others) {
        Map<String, Object> all = new TreeMap<>(others);
        if (bound != Long.MAX_VALUE) {
            all.put(key, bound);
        }
        return all;
    }

    private static Map<String, Object> channel(ChannelConfig channel, SessionInfo info) {
        Map<String, Object> all = new TreeMap<>(
                Map.of("name", channel.name(), "network", channel.network(), "adapter", channel.adapter()));
        info.protocolOf(channel).ifPresent(protocol -> all.put("networkHere", protocol.name()));
        return all;
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
