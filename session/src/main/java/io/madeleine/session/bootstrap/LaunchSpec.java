package io.madeleine.session.bootstrap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A launch request in the form in which it travels: a complete command, so the process that starts it needs nothing
 * else from the requester.
 *
 * <p>Threading: immutable.
 *
 * @param processes the number of processes
 * @param command the program and its arguments
 * @param environment variables to set in addition to the inherited ones
 */
public record LaunchSpec(int processes, List<String> command, Map<String, String> environment) {
    private static final String SEPARATOR = "\0";

    /** Encodes the request for a control message: its parts in UTF-8, separated by NUL. */
    byte[] encode() {
        List<String> parts = new ArrayList<>(List.of(Integer.toString(processes), Integer.toString(command.size())));
        parts.addAll(command);
        environment.forEach((name, value) -> {
            parts.add(name);
            parts.add(value);
        });
        byte[] bytes = String.join(SEPARATOR, parts).getBytes(StandardCharsets.UTF_8);
        if (bytes.length > ControlMessage.MAX_VALUE_BYTES) {
            throw new IllegalArgumentException("command and environment of " + bytes.length
                    + " bytes, with the class path: expected at most " + ControlMessage.MAX_VALUE_BYTES);
        }
        return bytes;
    }

    /**
     * Decodes a request.
     *
     * @throws IOException if the bytes are not a request
     */
    static LaunchSpec decode(byte[] bytes) throws IOException {
        List<String> parts = List.of(new String(bytes, StandardCharsets.UTF_8).split(SEPARATOR, -1));
        try {
            int processes = Integer.parseInt(parts.get(0));
            int environmentAt = 2 + Integer.parseInt(parts.get(1));
            Map<String, String> environment = new LinkedHashMap<>();
            for (int i = environmentAt; i < parts.size(); i += 2) {
                environment.put(parts.get(i), parts.get(i + 1));
            }
            return new LaunchSpec(processes, parts.subList(2, environmentAt), environment);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IOException("malformed launch request: expected counts, command and environment", e);
        }
    }
}
