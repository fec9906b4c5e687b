package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReceiveInterestTest {
    @Test
    void shouldTellTheConnectionAgainWhereMemoryWasTooShortForThat() {
        List<Object> told = new ArrayList<>();
        ProtocolConnection connection = (ProtocolConnection) Proxy.newProxyInstance(
                ProtocolConnection.class.getClassLoader(),
                new Class<?>[] {ProtocolConnection.class},
                (_, _, arguments) -> {
                    told.add(arguments[0]);
                    if (told.size() <= 2) {
                        throw new OutOfMemoryError("as a test");
                    }
                    return null;
                });
        try (SelectorReactor reactor = new SelectorReactor();
                ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0))) {
            ReceiveInterest interest = new ReceiveInterest(engine, connection);
            assertThrows(OutOfMemoryError.class, () -> interest.setInterest(false));
            assertThrows(OutOfMemoryError.class, () -> interest.setInterest(false));
            interest.setInterest(false);
            interest.setInterest(false);
            interest.setInterest(true);
            assertEquals(List.of(false, false, false, true), told);
        }
    }
}
