package io.madeleine.pmm.spi;

/**
 * What a transmission module is and can do.
 *
 * @param id the path id, {@code family/mechanism}, used verbatim in configuration, logs and reports
 * @param bufferMode static buffers of the module, or the user's blocks
 * @param linkMode one by one, or in groups
 * @param aggregation whether the receiver can extract parts of a group
 * @param maxBlockBytes the largest block that selection gives to the module; {@link Long#MAX_VALUE} for any
 * @param maxSaferBlockBytes the same of SAFER blocks, which are copied anyway: a module with static buffers copies them where they
 *     are needed, so that it may pay further up than for the others
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

    /** A module that takes blocks up to the same size in all modes. */
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

    /** The same module with static buffers of another size. */
    public TransmissionCapabilities withBufferBytes(int bytes) {
        return new TransmissionCapabilities(
                id, bufferMode, linkMode, aggregation, maxBlockBytes, maxSaferBlockBytes, bytes, summary);
    }

    /** The same module with another threshold, for all modes. */
    public TransmissionCapabilities withMaxBlockBytes(long bytes) {
        return new TransmissionCapabilities(id, bufferMode, linkMode, aggregation, bytes, bytes, bufferBytes, summary);
    }

    /** The same module with another threshold for SAFER blocks. */
    public TransmissionCapabilities withMaxSaferBlockBytes(long bytes) {
        return new TransmissionCapabilities(
                id, bufferMode, linkMode, aggregation, maxBlockBytes, bytes, bufferBytes, summary);
    }
}
