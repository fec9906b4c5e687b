/** Buffer management: fills static buffers by copying, or groups blocks for dynamic links. */
module io.madeleine.bmm {
    requires transitive io.madeleine.pmm;
    requires static org.jspecify;

    exports io.madeleine.bmm;
}
