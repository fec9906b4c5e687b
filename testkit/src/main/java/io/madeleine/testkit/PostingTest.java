package io.madeleine.testkit;

import io.madeleine.pmm.spi.PostingLink;

/** A test of the two ends of a link that posts. */
@FunctionalInterface
interface PostingTest {
    void run(int link, PostingLink send, PostingLink receive);
}
