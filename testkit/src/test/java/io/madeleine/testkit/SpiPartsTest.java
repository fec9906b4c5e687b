package io.madeleine.testkit;

/** The suite of the SPI has all parts. */
class SpiPartsTest extends AbstractPartsTest {
    SpiPartsTest() {
        super(AbstractProtocolModuleContractTest.class);
    }
}
