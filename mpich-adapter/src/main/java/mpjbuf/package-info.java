/** The buffer that programs of MPJ Express pack into. */
@NullMarked
package mpjbuf;

import org.jspecify.annotations.NullMarked;
