/**
 * MPI for Java: one set of classes for programs of the Open MPI and of the mpiJava dialect, over Madeleine's
 * channels.
 */
module io.madeleine.mpi {
    requires static transitive org.jspecify;
    requires io.madeleine.api;

    exports mpi;
    exports mpjbuf;

    provides java.util.spi.ToolProvider with
            io.madeleine.mpi.report.ReportTool;
}
