/** The command {@code mad}: one class per subcommand. */
@NullMarked
package io.madeleine.cli;

import org.jspecify.annotations.NullMarked;
