/**
 * Remote service requests after the Nexus model: global pointers, one-sided requests that run handlers, typed services.
 */
module io.madeleine.nexus {
    requires static transitive org.jspecify;
    requires io.madeleine.admission;
    requires io.madeleine.am;
    requires transitive io.madeleine.api;
    requires java.management;
    requires org.bouncycastle.pkix;
    requires org.bouncycastle.provider;

    exports io.madeleine.nexus;

    uses io.madeleine.nexus.ServiceSerializer;
}
