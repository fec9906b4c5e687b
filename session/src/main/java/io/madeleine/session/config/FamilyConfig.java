package io.madeleine.session.config;

import java.util.Optional;

/**
 * The settings that every family of networks has.
 *
 * <p>Threading: immutable.
 *
 * @param name the family's name
 * @param enabled whether the family may be used
 * @param guiceModule the class that binds the family's protocol module; empty if the class path has no module for the
 *     family
 * @param enabledOrigin the place in the configuration that enables or disables the family
 */
public record FamilyConfig(String name, boolean enabled, Optional<String> guiceModule, String enabledOrigin) {}
