/**
 * What drivers that use TLS share: the files of a process's identity, the binding of the proofs to a TLS session, and
 * what a failure means.
 */
@NullMarked
package io.madeleine.pmm.tls;

import org.jspecify.annotations.NullMarked;
