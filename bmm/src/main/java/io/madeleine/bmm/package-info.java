/**
 * Buffer management modules (paper, section 3.4): they turn a series of blocks into packets of a link, and packets back
 * into blocks. {@link io.madeleine.bmm.StaticSendBmm} copies into the link's buffers,
 * {@link io.madeleine.bmm.DynamicSendBmm} references the user's blocks; {@link io.madeleine.bmm.ReceiveBmm} is the
 * mirror of both.
 */
@NullMarked
package io.madeleine.bmm;

import org.jspecify.annotations.NullMarked;
