package io.madeleine.pmm.spi;

/**
 * The name of a process on the wire and in the SPI. A rank is a name that a session gives. A process that restarts
 * keeps its id and gets a higher incarnation.
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
