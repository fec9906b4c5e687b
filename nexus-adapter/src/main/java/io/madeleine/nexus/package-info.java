/**
 * Remote service requests over Madeleine's channels.
 *
 * <p>The model is that of Nexus (Foster, Kesselman, Tuecke: <i>The Nexus approach to integrating multithreading and
 * communication</i>, JPDC 37, 1996; reference 9 of RR-3976, section 5.3.2). A process has a {@link
 * io.madeleine.nexus.Context}. A {@link io.madeleine.nexus.Startpoint} is a global pointer to one or several {@link
 * io.madeleine.nexus.Endpoint endpoints}, and can be sent in messages. A request on a startpoint carries {@link
 * io.madeleine.nexus.Arguments} to each of these endpoints and runs a {@link io.madeleine.nexus.Handler} there.
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
