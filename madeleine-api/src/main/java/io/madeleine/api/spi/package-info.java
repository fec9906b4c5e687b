/** Where an implementation of the API makes itself known; users never call it. */
package io.madeleine.api.spi;
