/** What active messages need beside a channel: handlers that run one after the other, and sending without waiting by who runs them. */
@NullMarked
package io.madeleine.am;

import org.jspecify.annotations.NullMarked;
