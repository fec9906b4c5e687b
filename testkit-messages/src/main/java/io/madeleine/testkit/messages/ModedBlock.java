package io.madeleine.testkit.messages;

import io.madeleine.api.ReceiveMode;

/** A block as one end sees it: its size, and when the receiver needs it. */
record ModedBlock(int bytes, ReceiveMode mode) {}
