/** The command {@code mad}: launches programs, describes configurations, generates secrets. */
module io.madeleine.cli {
    requires static org.jspecify;
    requires io.madeleine.session;
    requires info.picocli;

    opens io.madeleine.cli to
            info.picocli;

    uses java.util.spi.ToolProvider;
}
