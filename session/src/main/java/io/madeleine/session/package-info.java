/** Opens sessions: reads the configuration, wires the modules and starts them. */
@NullMarked
package io.madeleine.session;

import org.jspecify.annotations.NullMarked;
