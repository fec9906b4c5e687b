package io.madeleine.testkit.messages;

import io.madeleine.testkit.AbstractPartsTest;

/** The suite of messages has all parts. */
class MessagePartsTest extends AbstractPartsTest {
    MessagePartsTest() {
        super(AbstractMessageContractTest.class);
    }
}
