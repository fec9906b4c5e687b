/** The service interface by which an implementation of the API is found; users never call it. */
package io.madeleine.api.spi;
