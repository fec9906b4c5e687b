/** How the processes of a session find each other, exchange values, and learn of deaths and aborts. */
@NullMarked
package io.madeleine.session.bootstrap;

import org.jspecify.annotations.NullMarked;
