/**
 * What stands before every port: {@link io.madeleine.admission.Acceptor} serves those who connect until they have proved to
 * know the secret, {@link io.madeleine.admission.Proofs} are what they prove it by.
 */
@NullMarked
package io.madeleine.admission;

import org.jspecify.annotations.NullMarked;
