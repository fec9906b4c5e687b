/** The session directory: the files of each process, who owns them, and what of dead processes is removed. */
@NullMarked
package io.madeleine.tm.sci.files;

import org.jspecify.annotations.NullMarked;
