package io.madeleine.tm.via;

/** As {@link RdmaMemoryTest}, for the memory that {@code via/registered} sends from and receives into. */
class RegisteredMemoryTest extends RdmaMemoryTest {
    @Override
    String settings() {
        return Fabrics.REGISTERED_LAST;
    }
}
