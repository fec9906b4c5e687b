/**
 * The public API of Madeleine: a {@link io.madeleine.api.Session} gives {@link io.madeleine.api.Channel channels}, and
 * a channel carries messages that are built and taken apart block by block.
 *
 * <p>After <i>A Portable and Efficient Communication Library for High-Performance Cluster Computing</i> (Aumage et al.,
 * INRIA RR-3976, 2000), section 2. The paper's Figure 1, an array whose size the receiver does not know:
 *
 * {@snippet lang=java :
 * // sender                                          // receiver
 * try (var out = channel.beginPacking(1)) {          try (var in = channel.beginUnpacking()) {
 *     out.packInt(array.length);                         int[] array = new int[in.unpackInt()];
 *     out.pack(array,                                    in.unpack(array,
 *             SendMode.CHEAPER, ReceiveMode.CHEAPER);            SendMode.CHEAPER, ReceiveMode.CHEAPER);
 *     out.endPacking();                                  in.endUnpacking();
 * }                                                  }
 * }
 *
 * <p>Both sides name the same blocks, with the same sizes and modes, in the same order.
 */
package io.madeleine.api;
