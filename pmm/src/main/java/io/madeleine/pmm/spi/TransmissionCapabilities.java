package io.madeleine.pmm.spi;

/**
 * The properties of a transmission module.
 *
 * @param id the path id, {@code family/mechanism}, used verbatim in configuration, logs and reports
 * @param bufferMode whether the module sends from its own buffers or from the user's blocks
 * @param linkMode whether it takes buffers one by one or in groups
 * @param aggregation whether the receiver can take parts of a group
 * @param maxBlockBytes the largest block that selection gives to the module; {@link Long#MAX_VALUE} for any
 * @param maxSaferBlockBytes the same for SAFER blocks, which are copied in any case: a module with static buffers
 *     copies them directly into the buffer, so its bound may be higher than for other blocks
 * @param bufferBytes the capacity of a static buffer; 0 for dynamic modules
 * @param summary one line for {@code mad info}
 */
public record TransmissionCapabilities(
        String id,
        BufferMode bufferMode,
        LinkMode linkMode,
        AggregationMode aggregation,
        long maxBlockBytes,
        long maxSaferBlockBytes,
        int bufferBytes,
        String summary) {
    /** Checks that the buffer size fits the mode. */
    public TransmissionCapabilities {
        if ((bufferMode == BufferMode.STATIC) != (bufferBytes > 0)) {
            throw new IllegalArgumentException(id + ": static modules have a buffer size, dynamic ones 0, found "
                    + bufferMode + " and " + bufferBytes);
        }
    }

    /** A module with the same bound for blocks of all modes. */
    public TransmissionCapabilities(
            String id,
            BufferMode bufferMode,
            LinkMode linkMode,
            AggregationMode aggregation,
            long maxBlockBytes,
            int bufferBytes,
            String summary) {
        this(id, bufferMode, linkMode, aggregation, maxBlockBytes, maxBlockBytes, bufferBytes, summary);
    }

    /** A copy with static buffers of another size. */
    public TransmissionCapabilities withBufferBytes(int bytes) {
        return new TransmissionCapabilities(
                id, bufferMode, linkMode, aggregation, maxBlockBytes, maxSaferBlockBytes, bytes, summary);
    }

    /** A copy with another bound for blocks of all modes. */
    public TransmissionCapabilities withMaxBlockBytes(long bytes) {
        return new TransmissionCapabilities(id, bufferMode, linkMode, aggregation, bytes, bytes, bufferBytes, summary);
    }

    /** A copy with another bound for SAFER blocks. */
    public TransmissionCapabilities withMaxSaferBlockBytes(long bytes) {
        return new TransmissionCapabilities(
                id, bufferMode, linkMode, aggregation, maxBlockBytes, bytes, bufferBytes, summary);
    }
}
