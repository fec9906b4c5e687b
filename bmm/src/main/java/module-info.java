/** Buffer management: static buffers are filled, dynamic ones grouped, whatever suits the link below. */
module io.madeleine.bmm {
    requires transitive io.madeleine.pmm;
    requires static org.jspecify;

    exports io.madeleine.bmm;
}
