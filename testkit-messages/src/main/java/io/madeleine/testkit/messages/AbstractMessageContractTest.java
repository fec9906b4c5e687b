package io.madeleine.testkit.messages;

/**
 * The contract of messages over any network, tested through the API between sessions in one process: all its parts. The
 * test of a family extends this class and has a static method {@code setups} that returns the networks to test:
 *
 * {@snippet lang=java :
 * static Stream<MessageSetup> setups() {
 *     return MessageSetup.of("tcp", () -> rank -> new TcpPmm(config));
 * }
 * }
 *
 * <p>A test of some parts extends {@link AbstractMessageTest} and names them.
 */
public abstract class AbstractMessageContractTest extends AbstractMessageTest
        implements BlocksContract,
                AsymmetryContract,
                MirrorContract,
                EndingContract,
                ThreadsContract,
                LossContract,
                ReuseContract,
                HandlersContract,
                ShortMessagesContract,
                SignalContract,
                TurnContract,
                StackContract,
                CompletionLossContract,
                ArenaContract,
                SendTaskContract,
                LayoutContract,
                OneBlockContract {}
