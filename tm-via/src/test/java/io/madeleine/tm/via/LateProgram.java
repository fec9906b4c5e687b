package io.madeleine.tm.via;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * A process that prints its adapter's address, and looks at its messages only after it has read a line. It prints
 * "alive" at the end.
 *
 * <p>Arguments: the provider, the session.
 */
final class LateProgram {
    private static final int POLLS = 10_000;

    private LateProgram() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Side side = new Side(Fabrics.driver(arguments[0], ""), arguments[1], EchoProgram.ID)) {
            System.out.println(side.adapter.address());
            String _ = in.readLine();
            for (int i = 0; i < POLLS; i++) {
                side.poll();
            }
        }
        System.out.println("alive");
    }
}
