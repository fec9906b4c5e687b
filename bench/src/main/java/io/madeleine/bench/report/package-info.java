/** What becomes of rows once they are measured: a page, Markdown, CSV. */
@NullMarked
package io.madeleine.bench.report;

import org.jspecify.annotations.NullMarked;
