/**
 * Remote service requests over Madeleine's channels.
 *
 * <p>The model is that of Nexus (Foster, Kesselman, Tuecke: <i>The Nexus approach to integrating multithreading and
 * communication</i>, JPDC 37, 1996; named as reference 9 of RR-3976, section 5.3.2): a process has a {@link
 * io.madeleine.nexus.Context}; a {@link io.madeleine.nexus.Startpoint} is a global pointer to one or several {@link
 * io.madeleine.nexus.Endpoint endpoints} and travels in messages; a request on it takes {@link
 * io.madeleine.nexus.Arguments} to each of them and runs a {@link io.madeleine.nexus.Handler} there.
 *
 * {@snippet lang=java :
 * // rank 0                                                  // rank 1
 * try (var context = Context.open(session)) {                try (var context = Context.open(session)) {
 *     context.endpoint("counter")                                context.startpoint(0, "counter")
 *         .threaded("add", (endpoint, request) ->                    .rsr("add", new Arguments().putInt(42));
 *             total.addAndGet(request.getInt()));                ...
 *     ...
 * }                                                          }
 * }
 */
@NullMarked
package io.madeleine.nexus;

import org.jspecify.annotations.NullMarked;
