/** Reads the configuration of a session: its sources, its keys, and what they say. */
@NullMarked
package io.madeleine.session.config;

import org.jspecify.annotations.NullMarked;
