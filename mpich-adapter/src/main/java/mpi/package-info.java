/** MPI for Java: the classes that programs see, with the members of the Open MPI and of the mpiJava dialect. */
@NullMarked
package mpi;

import org.jspecify.annotations.NullMarked;
