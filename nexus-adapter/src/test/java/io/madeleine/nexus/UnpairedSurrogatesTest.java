package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Strings arrive as they are, or not at all; only the messages of exceptions arrive in any case. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnpairedSurrogatesTest {
    private static final String BROKEN = "a\uD83Db";

    @RemoteService
    interface Texts {
        String same(String text);

        String broken();

        Flow.Publisher<String> stream();

        void fails();
    }

    private static final class Implementation implements Texts {
        @Override
        public String same(String text) {
            return text;
        }

        @Override
        public String broken() {
            return BROKEN;
        }

        @Override
        public Flow.Publisher<String> stream() {
            return Publishers.of(List.of("good", BROKEN));
        }

        @Override
        public void fails() {
            throw new IllegalStateException(BROKEN);
        }
    }

    @Test
    void shouldRefuseAStringWithAnUnpairedSurrogate() {
        for (String text : List.of("\uD83D", "x\uDE00", "\uDE00\uD83D", "\uD83D\uD83D\uDE00", "?\uDE00?")) {
            assertThrows(IllegalArgumentException.class, () -> new Arguments().putString(text));
            assertThrows(IllegalArgumentException.class, () -> Metadata.of("name", text));
            assertThrows(IllegalArgumentException.class, () -> Metadata.of(text, "value"));
        }
    }

    @Test
    void shouldBringStringsUnchangedOrFailWhereTheyAreSent() throws Exception {
        try (World world = new World("sci", 2, context -> context.export(Texts.class, new Implementation()))) {
            Texts texts = world.of(1).service(0, Texts.class);
            for (String good : List.of("", "plain?", "\u00e9\u4e2d", "\uD83D\uDE00", "x\uD83D\uDE00\uD83D\uDE00")) {
                assertEquals(good, texts.same(good));
            }
            CodingException argument = assertThrows(CodingException.class, () -> texts.same(BROKEN));
            assertTrue(argument.toString().contains("the arguments of"), argument::toString);
            RemoteException result = assertThrows(RemoteException.class, texts::broken);
            assertEquals(CodingException.class.getName(), result.remoteType());
            CompletableFuture<List<String>> items = Publishers.toList(texts.stream());
            Throwable item = assertThrows(ExecutionException.class, () -> items.get(20, TimeUnit.SECONDS))
                    .getCause();
            assertEquals(
                    CodingException.class.getName(),
                    assertInstanceOf(RemoteException.class, item).remoteType());
            RemoteException thrown = assertThrows(RemoteException.class, texts::fails);
            assertTrue(thrown.getMessage().contains("a?b"), thrown::getMessage);
        }
    }
}
