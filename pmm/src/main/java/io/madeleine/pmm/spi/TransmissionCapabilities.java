package io.madeleine.pmm.spi;

/**
 * What a transmission module is and can do.
 *
 * @param id the path id, {@code family/mechanism}, used verbatim in configuration, logs and reports
 * @param bufferMode static buffers of the module, or the user's blocks
 * @param linkMode one by one, or in groups
 * @param aggregation whether the receiver can extract parts of a group
 * @param maxBlockBytes the largest block that selection gives to the module; {@link Long#MAX_VALUE} for any
 * @param bufferBytes the capacity of a static buffer; 0 for dynamic modules
 * @param summary one line for {@code mad info}
 */
public record TransmissionCapabilities(
        String id,
        BufferMode bufferMode,
        LinkMode linkMode,
        AggregationMode aggregation,
        long maxBlockBytes,
        int bufferBytes,
        String summary) {
    /** Checks that the buffer size fits the mode. */
    public TransmissionCapabilities {
        if ((bufferMode == BufferMode.STATIC) != (bufferBytes > 0)) {
            throw new IllegalArgumentException(id + ": static modules have a buffer size, dynamic ones 0, found "
                    + bufferMode + " and " + bufferBytes);
        }
    }

    /** The same module with static buffers of another size. */
    public TransmissionCapabilities withBufferBytes(int bytes) {
        return new TransmissionCapabilities(id, bufferMode, linkMode, aggregation, maxBlockBytes, bytes, summary);
    }

    /** The same module with another threshold. */
    public TransmissionCapabilities withMaxBlockBytes(long bytes) {
        return new TransmissionCapabilities(id, bufferMode, linkMode, aggregation, bytes, bufferBytes, summary);
    }
}
