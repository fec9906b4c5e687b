package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;
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
    void shouldWantNativeAccessOnlyWhereThatIsAskedFor() {
        assertEquals(List.of(), new SciPmm(Side.settings("")).nativeModules());
        assertEquals(List.of("io.madeleine.linux"), new SciPmm(Side.settings("dma.single-copy = on")).nativeModules());
    }
}
