/** The driver of the BIP family: adapters, connections and the links {@code bip/short} and {@code bip/long}. */
@NullMarked
package io.madeleine.tm.bip;

import org.jspecify.annotations.NullMarked;
