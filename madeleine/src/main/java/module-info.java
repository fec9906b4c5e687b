/** The one module a program requires: the API, the session, the networks, requests and MPI for Java. */
module io.madeleine {
    requires transitive io.madeleine.api;
    requires transitive io.madeleine.mpi;
    requires transitive io.madeleine.nexus;
    requires io.madeleine.session;
    requires io.madeleine.tm.tcp;
    requires io.madeleine.tm.sci;
    requires io.madeleine.tm.via;
    requires io.madeleine.tm.bip;
}
