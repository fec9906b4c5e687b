package io.madeleine.testkit;

/**
 * The contract of every protocol module, tested between two adapters in one process: all its parts. The test of a
 * family extends this class and says how its drivers are made. A test of some parts extends {@link AbstractSpiTest} and
 * names them.
 */
public abstract class AbstractProtocolModuleContractTest extends AbstractSpiTest
        implements LinkContract, PostingContract, ProgressContract, ConnectingContract, ConnectionEndContract {}
