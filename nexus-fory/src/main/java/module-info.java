/** Typed services whose types may differ in version between the two ends, by Apache Fory. */
module io.madeleine.nexus.fory {
    requires static org.jspecify;
    requires transitive io.madeleine.nexus;
    requires org.apache.fory.core;

    exports io.madeleine.nexus.fory;

    provides io.madeleine.nexus.ServiceSerializer with
            io.madeleine.nexus.fory.ForySerializer;
}
