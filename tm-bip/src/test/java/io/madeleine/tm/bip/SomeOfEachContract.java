package io.madeleine.tm.bip;

import java.lang.reflect.Method;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs each third test of every part of the contract that a test class has, by name; with {@code -Pthorough} all. */
final class SomeOfEachContract implements ExecutionCondition {
    private static final int SHARE = 3;

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return Boolean.getBoolean("thorough")
                        || context.getTestMethod().map(this::isChosen).orElse(true)
                ? ConditionEvaluationResult.enabled("one of the selection")
                : ConditionEvaluationResult.disabled("one of each " + SHARE + " tests runs: all with -Pthorough");
    }

    private boolean isChosen(Method test) {
        long before = Stream.of(test.getDeclaringClass().getDeclaredMethods())
                .filter(each -> each.isAnnotationPresent(Test.class))
                .filter(each -> each.getName().compareTo(test.getName()) < 0)
                .count();
        return before % SHARE == 0;
    }
}
