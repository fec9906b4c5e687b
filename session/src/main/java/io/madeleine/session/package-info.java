/** Opens sessions: reads the configuration, finds the other processes, connects to them and reports failed peers. */
@NullMarked
package io.madeleine.session;

import org.jspecify.annotations.NullMarked;
