package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.link.SciCellLink;
import io.madeleine.tm.sci.link.SciShortLink;
import io.madeleine.tm.sci.link.SingleCopy;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Whether large blocks are read by single copy; run with native access and without. */
class DmaChoiceTest {
    private static List<String> modules(String settings) {
        return new SciPmm(Side.settings(settings))
                .transmissionModules().stream()
                        .map(TransmissionCapabilities::id)
                        .toList();
    }

    @Test
    void shouldOfferSingleCopyByDefault() {
        assertTrue(modules("").contains(SciCellLink.DMA));
    }

    @Test
    void shouldOfferSingleCopyWithoutSharedBlocksWhereThisProcessMayReadAnother() {
        boolean granted = getClass().getModule().isNativeAccessEnabled();
        assertEquals(granted, modules("dma.shared-blocks = false").contains(SciCellLink.DMA));
        assertEquals(granted, SingleCopy.availability().on());
    }

    @Test
    void shouldDoAsItIsTold() {
        assertEquals(List.of(SciShortLink.ID, SciCellLink.REGULAR), modules("dma.single-copy = off"));
        assertEquals(List.of(SciShortLink.ID, SciCellLink.REGULAR, SciCellLink.DMA), modules("dma.single-copy = on"));
    }

    @Test
    void shouldLeaveWhatIsSmallerThanItsThresholdToTheCells() {
        List<TransmissionCapabilities> modules =
                new SciPmm(Side.settings("dma { single-copy = on, from = 64 KiB }")).transmissionModules();
        assertEquals(64 * 1024 - 1, modules.get(1).maxBlockBytes());
    }

    @Test
    void shouldWantNativeAccessWhereItIsAskedForAndByDefaultWhereTheSystemPermitsToReadAnother() {
        boolean permitted = SingleCopy.engine().orElseThrow().forbidden().isEmpty();
        List<String> needed = List.of("io.madeleine.linux");
        assertEquals(permitted ? needed : List.of(), nativeModules(""));
        assertEquals(needed, nativeModules("dma.single-copy = on"));
        assertEquals(List.of(), nativeModules("dma.single-copy = off"));
        assertEquals(List.of(), nativeModules("dma.to = none"));
    }

    @Test
    void shouldNotWantNativeAccessByDefaultWhereTheSystemForbidsToReadAnother() {
        CopyEngine engine = SingleCopy.engine().orElseThrow();
        CopyEngine forbidden = new CopyEngine() {
            @Override
            public String name() {
                return engine.name();
            }

            @Override
            public Availability availability() {
                return engine.availability();
            }

            @Override
            public Optional<String> forbidden() {
                return Optional.of("not here");
            }

            @Override
            public List<String> nativeModules() {
                return engine.nativeModules();
            }

            @Override
            public Reader open(long pid, Arena arena) {
                return engine.open(pid, arena);
            }
        };
        assertFalse(Side.settings("").wantsFlagFor(forbidden));
        assertTrue(Side.settings("dma.single-copy = on").wantsFlagFor(forbidden));
    }

    private static List<String> nativeModules(String settings) {
        return new SciPmm(Side.settings(settings)).nativeModules();
    }
}
