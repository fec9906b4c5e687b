/**
 * What a network brings to Madeleine, as the paper's section 3.3 orders it: a {@linkplain
 * io.madeleine.pmm.spi.ProtocolModule driver} opens {@linkplain io.madeleine.pmm.spi.Adapter adapters}, an adapter
 * carries {@linkplain io.madeleine.pmm.spi.ProtocolChannel channels}, a channel has a {@linkplain
 * io.madeleine.pmm.spi.ProtocolConnection connection} to each peer, and a connection one {@linkplain
 * io.madeleine.pmm.spi.TransmissionLink link} per transmission module.
 *
 * <p>Three rules hold everywhere. <b>Links never wait</b>: they move what they can and say so. <b>State machines
 * step</b>: the layers above call again when there is news. <b>The engine waits</b>, in one place. Processes are named
 * by {@linkplain io.madeleine.pmm.spi.ProcessIdentity identity}, never by rank.
 */
@NullMarked
package io.madeleine.pmm.spi;

import org.jspecify.annotations.NullMarked;
