/** Contract tests of messages over any network, and sessions whose ranks are threads of one JVM. */
@NullMarked
package io.madeleine.testkit.messages;

import org.jspecify.annotations.NullMarked;
