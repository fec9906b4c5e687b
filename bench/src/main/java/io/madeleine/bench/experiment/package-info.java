/** Figures and tables of the papers that can be measured again. */
@NullMarked
package io.madeleine.bench.experiment;

import org.jspecify.annotations.NullMarked;
