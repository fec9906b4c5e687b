/** Contract tests of the SPI and in-memory networks, for authors of transmission modules. */
@NullMarked
package io.madeleine.testkit;

import org.jspecify.annotations.NullMarked;
