package io.madeleine.testkit.messages;

import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What messages promise whatever carries them, tried at the level of the API between sessions in one process. A
 * family's test extends this class and has a static method {@code setups} that says what to run it over:
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
