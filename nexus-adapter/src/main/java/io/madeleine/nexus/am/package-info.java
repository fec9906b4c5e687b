/** What active messages need beside a channel: sending in order, without waiting, by who runs handlers. */
@NullMarked
package io.madeleine.nexus.am;

import org.jspecify.annotations.NullMarked;
