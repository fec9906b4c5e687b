/** Ping-pong and throughput tools, and the JMH benchmarks. */
@NullMarked
package io.madeleine.bench;

import org.jspecify.annotations.NullMarked;
