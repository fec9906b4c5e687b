package io.madeleine.session;

import java.util.Optional;

/**
 * What all families of networks have in their configuration.
 *
 * <p>Threading: immutable.
 *
 * @param name the family's name
 * @param enabled whether it may be used
 * @param guiceModule the class that binds its protocol module; empty if no module on the class path brings the family
 * @param enabledOrigin where it was enabled or disabled
 */
record FamilyConfig(String name, boolean enabled, Optional<String> guiceModule, String enabledOrigin) {}
