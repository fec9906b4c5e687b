package io.madeleine.testkit.messages;

import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of messages over any network, tested through the API between sessions in one process. The test of a
 * family extends this class and has a static method {@code setups} that returns the networks to test:
 *
 * {@snippet lang=java :
 * static Stream<MessageSetup> setups() {
 *     return MessageSetup.of("tcp", () -> rank -> new TcpPmm(config));
 * }
 * }
 */
@ParameterizedClass(name = "{0}")
@MethodSource("setups")
public abstract class AbstractMessageContractTest extends OneBlockContract {}
