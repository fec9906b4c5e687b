package io.madeleine.nexus.codec;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Types without type variables: a class, a generic class {@linkplain Of with arguments}, or an {@linkplain ArrayOf
 * array} of those. Equal types compare as equal.
 *
 * <p>Threading: stateless.
 */
public final class Types {
    private Types() {}

    /** A generic class with its type arguments. */
    public record Of(Class<?> raw, List<Type> arguments) implements ParameterizedType {
        @Override
        public Type[] getActualTypeArguments() {
            return arguments.toArray(Type[]::new);
        }

        @Override
        public Type getRawType() {
            return raw;
        }

        @Override
        public @Nullable Type getOwnerType() {
            return raw.getDeclaringClass();
        }

        @Override
        public String getTypeName() {
            return raw.getName()
                    + arguments.stream().map(Type::getTypeName).collect(Collectors.joining(", ", "<", ">"));
        }
    }

    /** An array of a generic type. */
    public record ArrayOf(Type component) implements GenericArrayType {
        @Override
        public Type getGenericComponentType() {
            return component;
        }

        @Override
        public String getTypeName() {
            return component.getTypeName() + "[]";
        }
    }

    /**
     * Replaces the type variables of a type.
     *
     * @throws IllegalArgumentException if a variable has no value
     */
    public static Type resolve(Type type, Map<TypeVariable<?>, Type> variables) {
        return switch (type) {
            case ParameterizedType generic ->
                new Of(
                        (Class<?>) generic.getRawType(),
                        Arrays.stream(generic.getActualTypeArguments())
                                .map(argument -> resolve(argument, variables))
                                .toList());
            case GenericArrayType array -> {
                Type component = resolve(array.getGenericComponentType(), variables);
                yield component instanceof Class<?> raw ? raw.arrayType() : new ArrayOf(component);
            }
            case WildcardType wildcard -> resolve(wildcard.getUpperBounds()[0], variables);
            case TypeVariable<?> variable -> {
                Type meant = variables.get(variable);
                if (meant == null) {
                    throw new IllegalArgumentException("type variable " + variable.getName() + " of "
                            + variable.getGenericDeclaration()
                            + " has no value: expected a type argument, as in Box<String>");
                }
                yield meant;
            }
            default -> type;
        };
    }

    public static Class<?> raw(Type resolved) {
        return switch (resolved) {
            case Class<?> raw -> raw;
            case Of of -> of.raw();
            case ArrayOf array -> raw(array.component()).arrayType();
            default -> throw new IllegalArgumentException(resolved.getTypeName() + ": expected a class");
        };
    }

    /** The values of the type variables of a resolved type's class. */
    public static Map<TypeVariable<?>, Type> variables(Type resolved) {
        Map<TypeVariable<?>, Type> variables = new HashMap<>();
        if (resolved instanceof Of of) {
            TypeVariable<?>[] declared = of.raw().getTypeParameters();
            for (int i = 0; i < declared.length; i++) {
                variables.put(declared[i], of.arguments().get(i));
            }
        }
        return variables;
    }

    /** The values of the type variables of all interfaces that an interface extends. */
    public static Map<TypeVariable<?>, Type> variablesOfAll(Class<?> type) {
        Map<TypeVariable<?>, Type> variables = new HashMap<>();
        addInterfaces(type, variables);
        return variables;
    }

    private static void addInterfaces(Class<?> type, Map<TypeVariable<?>, Type> variables) {
        for (Type extended : type.getGenericInterfaces()) {
            if (extended instanceof ParameterizedType) {
                variables.putAll(variables(resolve(extended, variables)));
            }
            addInterfaces(
                    (Class<?>) (extended instanceof ParameterizedType of ? of.getRawType() : extended), variables);
        }
    }

    /** A permitted class of a sealed type, with the type arguments that follow from those of the sealed type. */
    public static Type permitted(Class<?> permitted, Type sealed) {
        TypeVariable<?>[] declared = permitted.getTypeParameters();
        if (declared.length == 0) {
            return permitted;
        }
        Map<TypeVariable<?>, Type> variables = new HashMap<>();
        for (Type extended : superTypes(permitted)) {
            if (extended instanceof ParameterizedType of
                    && of.getRawType() == raw(sealed)
                    && sealed instanceof Of whole) {
                Type[] arguments = of.getActualTypeArguments();
                for (int i = 0; i < arguments.length; i++) {
                    if (arguments[i] instanceof TypeVariable<?> variable) {
                        variables.put(variable, whole.arguments().get(i));
                    }
                }
            }
        }
        return new Of(
                permitted,
                Arrays.stream(declared)
                        .map(variable -> resolve(variable, variables))
                        .toList());
    }

    private static List<Type> superTypes(Class<?> type) {
        List<Type> all = new java.util.ArrayList<>(List.of(type.getGenericInterfaces()));
        Type parent = type.getGenericSuperclass();
        if (parent != null) {
            all.add(parent);
        }
        return all;
    }
}
