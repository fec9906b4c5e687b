/** Writes measured rows: as a page, Markdown or CSV. */
@NullMarked
package io.madeleine.bench.report;

import org.jspecify.annotations.NullMarked;
