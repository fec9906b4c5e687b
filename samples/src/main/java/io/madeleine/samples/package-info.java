/** Small programs that show how to use Madeleine. */
@NullMarked
package io.madeleine.samples;

import org.jspecify.annotations.NullMarked;
