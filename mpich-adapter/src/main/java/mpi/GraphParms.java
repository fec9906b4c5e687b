package mpi;

/** A graph topology. Threading: confined to caller. */
public class GraphParms {
    /** For each node, the number of edges of it and all before. */
    public int[] index = new int[0];

    /** The neighbours of all nodes. */
    public int[] edges = new int[0];

    /** A graph without nodes. */
    public GraphParms() {}

    /** The number of nodes. */
    public int getIndexCount() {
        return index.length;
    }

    /** The number of edges of a node and all before. */
    public int getIndex(int node) {
        return index[node];
    }

    /** The number of edges. */
    public int getEdgeCount() {
        return edges.length;
    }

    /** The end of an edge. */
    public int getEdge(int number) {
        return edges[number];
    }
}
