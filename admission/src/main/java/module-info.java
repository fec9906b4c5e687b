/** Admission: those who connect are a bounded number, for a bounded time, until they have proved to know the secret. */
@SuppressWarnings("module") // it is for modules that are compiled later
module io.madeleine.admission {
    requires static org.jspecify;

    exports io.madeleine.admission to
            io.madeleine.pmm,
            io.madeleine.session,
            io.madeleine.nexus;
}
