package io.madeleine.pmm.spi;

/**
 * Who a process is, on the wire and in the SPI. Ranks are names that a session gives; a process that comes back has the
 * same id and a higher incarnation.
 *
 * @param id unique among the processes of a session
 * @param incarnation 0 for the first life of the process
 */
public record ProcessIdentity(long id, int incarnation) {
    @Override
    public String toString() {
        return Long.toHexString(id) + "." + incarnation;
    }
}
