/** Small programs which show how Madeleine is used. */
@NullMarked
package io.madeleine.samples;

import org.jspecify.annotations.NullMarked;
