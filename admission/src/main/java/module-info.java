/**
 * Admission: limits the number and the time of connections whose peers have not yet proved that they know the secret.
 */
@SuppressWarnings("module") // the modules it exports to are compiled later
module io.madeleine.admission {
    requires static org.jspecify;

    exports io.madeleine.admission to
            io.madeleine.pmm,
            io.madeleine.session,
            io.madeleine.nexus;
}
