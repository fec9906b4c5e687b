package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The members that programs of both dialects use: each of the lists exists, with parameters that accept the same. */
class SignaturesTest {
    private static final Pattern CLASS = Pattern.compile("(?:class|interface) (mpi\\.[\\w$]+)");
    private static final Pattern METHOD = Pattern.compile("([\\w.$\\[\\]<> ]*?)([\\w.$]+)\\((.*?)\\)");
    private static final Pattern FIELD = Pattern.compile("([\\w.$\\[\\]]+) (\\w+)");

    /** Visible by accident in MPJ Express, or bound to its implementation; no program can use them. */
    private static final Set<String> LEFT_OUT = Set.of(
            "Datatype.Datatype()",
            "Datatype.finalize()",
            "Group.Group(mpjdev.Group)",
            "Group.finalize()",
            "Group.code",
            "Group.mpjdevGroup",
            "Op.finalize()",
            "Op.opCode",
            "Request.Request(mpjdev.Request)",
            "Request.finalize()",
            "Request.req",
            "Status.Status(mpjdev.Status)",
            "Comm.group",
            "Comm.mpjdevComm",
            "Constant.Constant()");

    private record Member(String type, String text) {}

    private static List<Member> members(String list) throws IOException {
        List<Member> members = new ArrayList<>();
        try (InputStream in = SignaturesTest.class.getResourceAsStream("/" + list)) {
            assertNotNull(in);
            BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            String type = "";
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                Matcher head = CLASS.matcher(line);
                if (line.startsWith("  ")) {
                    members.add(new Member(
                            type, line.strip().replaceAll(" throws .*", "").replace(";", "")));
                } else if (head.find()) {
                    type = head.group(1);
                    if (!type.equals("mpi.Constant") && !type.equals("mpi.Struct$Field")) {
                        members.add(new Member(type, ""));
                    }
                }
            }
        }
        return members;
    }

    @ParameterizedTest
    @ValueSource(strings = {"openmpi-java.txt", "mpj-express.txt"})
    void shouldHaveEveryMemberOfTheList(String list) throws Exception {
        List<Member> members = members(list);
        assertTrue(members.size() > 200, "the list was not read: " + members.size() + " members");
        List<String> missing = new ArrayList<>();
        for (Member member : members) {
            String problem = problem(member);
            if (!problem.isEmpty()) {
                missing.add(problem);
            }
        }
        assertEquals(List.of(), missing);
    }

    private static String problem(Member member) {
        Class<?> type;
        try {
            type = Class.forName(member.type());
        } catch (ClassNotFoundException e) {
            return "no class " + member.type();
        }
        if (member.text().isEmpty()) {
            return "";
        }
        Matcher method = METHOD.matcher(member.text());
        if (!method.matches()) {
            return fieldProblem(type, member.text());
        }
        String name = method.group(2);
        String[] parameters =
                method.group(3).isEmpty() ? new String[0] : method.group(3).split(",\\s*");
        boolean isConstructor = name.equals(member.type());
        String shown = type.getSimpleName() + "." + (isConstructor ? type.getSimpleName() : name) + "("
                + String.join(", ", parameters) + ")";
        if (LEFT_OUT.contains(shown)) {
            return "";
        }
        if (isConstructor) {
            boolean exists = Arrays.stream(type.getDeclaredConstructors())
                    .map(Constructor::getParameterTypes)
                    .anyMatch(own -> accepts(own, parameters));
            return exists ? "" : "no constructor " + shown;
        }
        String result = lastWord(method.group(1));
        boolean isStatic = method.group(1).contains("static");
        boolean exists = Arrays.stream(type.getMethods())
                .filter(each -> each.getName().equals(name))
                .filter(each -> java.lang.reflect.Modifier.isStatic(each.getModifiers()) == isStatic)
                .filter(each -> accepts(each.getParameterTypes(), parameters))
                .anyMatch(each -> returns(each, result));
        return exists ? "" : "no method " + result + " " + shown;
    }

    private static String lastWord(String text) {
        String[] words = text.strip().split(" ");
        return words[words.length - 1];
    }

    private static boolean returns(Method method, String wanted) {
        Class<?> own = method.getReturnType();
        return wanted.equals("T")
                || own.getTypeName().equals(wanted)
                || isSubtype(own, wanted)
                || (wanted.equals("void") && method.getName().equals("Buffer_detach"))
                || (wanted.equals("java.lang.Object") && !own.isPrimitive());
    }

    /** Whether the class is, or extends, a type with this name. */
    private static boolean isSubtype(Class<?> own, String wanted) {
        for (Class<?> each = own; each != null; each = each.getSuperclass()) {
            if (each.getTypeName().equals(wanted)) {
                return true;
            }
        }
        return false;
    }

    private static boolean accepts(Class<?>[] own, String[] wanted) {
        if (own.length != wanted.length) {
            return false;
        }
        for (int i = 0; i < own.length; i++) {
            boolean isWider =
                    own[i] == Object.class && !List.of("int", "long", "boolean").contains(wanted[i]);
            if (!isWider
                    && !own[i].getTypeName().equals(wanted[i].replace('$', '.'))
                    && !own[i].getName().equals(wanted[i])) {
                return false;
            }
        }
        return true;
    }

    private static String fieldProblem(Class<?> type, String text) {
        Matcher field = FIELD.matcher(text.replaceAll("^.*\\b(?:public|static|final) ", ""));
        if (!field.matches()) {
            return "not understood: " + text;
        }
        String shown = type.getSimpleName() + "." + field.group(2);
        if (LEFT_OUT.contains(shown)) {
            return "";
        }
        try {
            Class<?> own = type.getField(field.group(2)).getType();
            return isSubtype(own, field.group(1)) ? "" : shown + " is of " + own + ": expected " + field.group(1);
        } catch (NoSuchFieldException e) {
            return "no field " + shown;
        }
    }
}
