/** Connections: what they send, what arrives for them, and their links. */
@NullMarked
package io.madeleine.tm.via.link;

import org.jspecify.annotations.NullMarked;
