/** Contract tests of the SPI and stand-ins for those who write transmission modules. */
@NullMarked
package io.madeleine.testkit;

import org.jspecify.annotations.NullMarked;
