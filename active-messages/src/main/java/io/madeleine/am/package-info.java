/**
 * What active messages need besides a channel: running handlers one at a time, and sending from handlers without
 * waiting.
 */
@NullMarked
package io.madeleine.am;

import org.jspecify.annotations.NullMarked;
