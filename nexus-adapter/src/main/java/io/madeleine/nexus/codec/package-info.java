/**
 * How values become bytes: codecs of values and of types that consist of others, and descriptions of types by which two
 * processes find out whether they understand each other. This package does not depend on contexts.
 */
@NullMarked
package io.madeleine.nexus.codec;

import org.jspecify.annotations.NullMarked;
