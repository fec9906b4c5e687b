/** What a user of Madeleine sees: sessions, channels, messages and their modes. Depends on nothing but the JDK. */
module io.madeleine.api {
    exports io.madeleine.api;
    exports io.madeleine.api.spi;

    uses io.madeleine.api.spi.SessionProvider;
}
