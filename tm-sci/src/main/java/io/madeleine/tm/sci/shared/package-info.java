/** Memory of the session in files that peers map: blocks of messages read in place, and remote memory. */
@NullMarked
package io.madeleine.tm.sci.shared;

import org.jspecify.annotations.NullMarked;
