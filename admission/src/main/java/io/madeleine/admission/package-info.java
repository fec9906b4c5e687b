/**
 * Guards the listening ports. {@link io.madeleine.admission.Acceptor} serves peers that connect until they have proved
 * that they know the secret; {@link io.madeleine.admission.Proofs} makes the proofs.
 */
@NullMarked
package io.madeleine.admission;

import org.jspecify.annotations.NullMarked;
