/** The networks of a process: which it has, which it shares with a peer, and the connections over them. */
@NullMarked
package io.madeleine.session.network;

import org.jspecify.annotations.NullMarked;
