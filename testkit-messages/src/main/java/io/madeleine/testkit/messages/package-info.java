/** What messages have to keep whatever carries them, as contract tests; and sessions whose ranks are threads of one JVM. */
@NullMarked
package io.madeleine.testkit.messages;

import org.jspecify.annotations.NullMarked;
