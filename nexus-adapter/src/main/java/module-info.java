/** Remote service requests after Nexus: global pointers, one-sided requests that run handlers, typed services over them. */
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
