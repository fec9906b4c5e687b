package io.madeleine.nexus.fory;

import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the program's classes that values of given types consist of.
 *
 * <p>Threading: confined to caller.
 */
final class Reachable {
    private final Set<Class<?>> seen = new LinkedHashSet<>();

    /** The instantiable classes, sorted by name, so that the order is the same each time. */
    List<Class<?>> classes() {
        return seen.stream()
                .filter(each -> !each.isInterface() && !Modifier.isAbstract(each.getModifiers()) || each.isEnum())
                .sorted(java.util.Comparator.comparing(Class::getName))
                .toList();
    }

    void add(Type type) {
        switch (type) {
            case Class<?> raw when raw.isArray() -> add(raw.getComponentType());
            case Class<?> raw -> addClass(raw);
            case ParameterizedType generic -> {
                add(generic.getRawType());
                for (Type argument : generic.getActualTypeArguments()) {
                    add(argument);
                }
            }
            case GenericArrayType array -> add(array.getGenericComponentType());
            case WildcardType wildcard -> add(wildcard.getUpperBounds()[0]);
            default -> {} // a type variable: its value is added where it is declared
        }
    }

    private void addClass(Class<?> raw) {
        if (raw.isPrimitive() || raw.getClassLoader() == null || raw.getName().startsWith("java.") || !seen.add(raw)) {
            return;
        }
        if (raw.isSealed()) {
            for (Class<?> permitted : raw.getPermittedSubclasses()) {
                addClass(permitted);
            }
        }
        if (raw.isEnum()) {
            return;
        }
        for (Field field : raw.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers())) {
                add(field.getGenericType());
            }
        }
        Class<?> parent = raw.getSuperclass();
        if (parent != null) {
            addClass(parent);
        }
    }
}
