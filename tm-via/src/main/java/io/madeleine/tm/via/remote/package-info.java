/** Remote memory: exports, attachments, and the operations of attachments. */
@NullMarked
package io.madeleine.tm.via.remote;

import org.jspecify.annotations.NullMarked;
