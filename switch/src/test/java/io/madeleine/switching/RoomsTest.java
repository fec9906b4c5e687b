package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rooms of the module: each class is in one, and a room uses only those it may. So no circle joins two rooms. */
class RoomsTest {
    private static final String PACKAGE = "io.madeleine.switching";

    private enum Room {
        /** Which link a block takes, and its description. */
        SELECTION,

        /** What both halves of a connection use. */
        MESSAGE,
        SENDING,
        RECEIVING,

        /** Channels and connections, and who waits there. */
        CHANNEL;

        Set<Room> used() {
            return switch (this) {
                case SELECTION, MESSAGE -> Set.of(this);
                case SENDING, RECEIVING -> Set.of(this, SELECTION, MESSAGE);
                case CHANNEL -> Set.of(values());
            };
        }
    }

    private static final Map<Room, List<String>> CLASSES = Map.of(
            Room.SELECTION,
            List.of("SelectionTable", "BlockDescriptor", "SelfDescription"),
            Room.MESSAGE,
            List.of(
                    "ConnectionContext",
                    "MessageFailures",
                    "Flag",
                    "GlobalFence",
                    "Handles",
                    "MessageCompletion",
                    "MessageHandle"),
            Room.SENDING,
            List.of(
                    "BiasedSendLock",
                    "DeferredBlocks",
                    "Insertion",
                    "OutgoingHandle",
                    "PostedMemory",
                    "ScheduledTask",
                    "SendAbort",
                    "SendHalf",
                    "SendLockQueue",
                    "TaskLine",
                    "TaskRunner"),
            Room.RECEIVING,
            List.of(
                    "ExclusiveMessage",
                    "Extraction",
                    "IncomingHandle",
                    "ReceiveContext",
                    "ReceiveHalf",
                    "ReceiveInterest",
                    "Reception",
                    "Retraction",
                    "TemporalSlip",
                    "UnfinishedUnpack",
                    "Unpacking"),
            Room.CHANNEL,
            List.of(
                    "Arrivals",
                    "ChannelSignal",
                    "ChannelShutdown",
                    "HandlerDispatch",
                    "MemoryDrain",
                    "SwitchSettings",
                    "SwitchedChannel",
                    "SwitchedConnection",
                    "WholeMessages"));

    private static final Map<String, Room> ROOMS = new HashMap<>();
    private static JavaClasses classes = new ClassFileImporter().importClasses();

    @BeforeAll
    static void read() {
        CLASSES.forEach((room, names) -> names.forEach(name -> ROOMS.put(name, room)));
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(PACKAGE);
    }

    /** The name of the top-level class. */
    private static String nameOf(JavaClass found) {
        return found.getName().substring(PACKAGE.length() + 1).replaceFirst("[$\\[].*", "");
    }

    private static boolean isOfModule(JavaClass found) {
        return found.getPackageName().equals(PACKAGE) && !nameOf(found).equals("package-info");
    }

    @Test
    void shouldHaveEachClassInARoom() {
        Set<String> found = new TreeSet<>();
        for (JavaClass one : classes) {
            if (isOfModule(one)) {
                found.add(nameOf(one));
            }
        }
        assertEquals(new TreeSet<>(ROOMS.keySet()), found);
    }

    @Test
    void shouldUseFromEachRoomOnlyThoseItMayUse() {
        Set<String> wrong = new TreeSet<>();
        int seen = 0;
        for (JavaClass one : classes) {
            Room room = isOfModule(one) ? ROOMS.get(nameOf(one)) : null;
            for (Dependency dependency : room == null ? Set.<Dependency>of() : one.getDirectDependenciesFromSelf()) {
                JavaClass used = dependency.getTargetClass().getBaseComponentType();
                Room other = isOfModule(used) ? ROOMS.get(nameOf(used)) : null;
                seen += other == null ? 0 : 1;
                if (other != null && !room.used().contains(other)) {
                    wrong.add(room + " uses " + other + ": " + dependency.getDescription());
                }
            }
        }
        assertEquals(Set.of(), wrong);
        assertTrue(seen > 100, "the classes were not found");
    }
}
