/**
 * The driver SPI: what a network implements. As in the paper's section 3.3, a {@linkplain
 * io.madeleine.pmm.spi.ProtocolModule driver} opens {@linkplain io.madeleine.pmm.spi.Adapter adapters}, an adapter
 * carries {@linkplain io.madeleine.pmm.spi.ProtocolChannel channels}, a channel has a {@linkplain
 * io.madeleine.pmm.spi.ProtocolConnection connection} to each peer, and a connection has one {@linkplain
 * io.madeleine.pmm.spi.TransmissionLink link} per transmission module.
 *
 * <p>Three rules hold everywhere. <b>Links never wait</b>: they move what they can and return. <b>State machines
 * step</b>: the layers above call again after an event. <b>The engine waits</b>, in one place. Processes are named by
 * {@linkplain io.madeleine.pmm.spi.ProcessIdentity identity}, never by rank.
 */
@NullMarked
package io.madeleine.pmm.spi;

import org.jspecify.annotations.NullMarked;
