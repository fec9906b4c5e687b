/** Contract tests of messages over any network, and sessions whose ranks are threads of one JVM. */
module io.madeleine.testkit.messages {
    requires static org.jspecify;
    requires transitive io.madeleine.switching;
    requires transitive io.madeleine.testkit;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;

    exports io.madeleine.testkit.messages;
}
