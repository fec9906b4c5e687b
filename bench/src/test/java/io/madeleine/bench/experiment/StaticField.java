package io.madeleine.bench.experiment;

import java.lang.reflect.Field;

/** A program that prints a static field of a class. */
final class StaticField {
    private StaticField() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        Field field = Class.forName(arguments[0]).getDeclaredField(arguments[1]);
        field.setAccessible(true);
        System.out.println(field.get(null));
    }
}
