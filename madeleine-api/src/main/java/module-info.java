/** The public API of Madeleine: sessions, channels, messages and their modes. It depends on nothing but the JDK. */
module io.madeleine.api {
    exports io.madeleine.api;
    exports io.madeleine.api.spi;

    uses io.madeleine.api.spi.SessionProvider;
}
