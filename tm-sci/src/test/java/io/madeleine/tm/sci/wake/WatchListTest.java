package io.madeleine.tm.sci.wake;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WatchListTest {
    private static final int MANY_LOOKS = 1_000_000;

    /** A connection without data, in which a reader may become interested just as it leaves the list. */
    private static final class Idle implements Watched {
        private boolean interested;
        private boolean becomesInterested;
        private boolean listed;
        private boolean unwatched = true;
        private int looks;

        @Override
        public int slot() {
            return 1;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public boolean isInterested() {
            return interested;
        }

        @Override
        public boolean isReadable() {
            if (++looks > MANY_LOOKS) {
                throw new AssertionError("it looks without end");
            }
            return false;
        }

        @Override
        public int deliver() {
            return 0;
        }

        @Override
        public void lookAtPeer() {}

        @Override
        public void reportIfCutOff() {}

        @Override
        public boolean isCutOff() {
            return false;
        }

        @Override
        public void cutOff(String reason) {}

        @Override
        public boolean isListed() {
            return listed;
        }

        @Override
        public void setListed(boolean onList) {
            listed = onList;
            if (!onList && becomesInterested) {
                interested = true; // It announces nothing: it saw that it was on the list.
            }
        }

        @Override
        public void watch() {
            unwatched = false;
        }

        @Override
        public void unwatch() {
            unwatched = true;
        }

        @Override
        public boolean isUnwatched() {
            return unwatched;
        }

        @Override
        public boolean isSettled() {
            return unwatched;
        }

        @Override
        public int countIdlePoll() {
            return 1;
        }

        @Override
        public int noteAnnouncement(long nowNs, long withinNs) {
            return 1;
        }

        @Override
        public boolean isQuiet() {
            return false;
        }

        @Override
        public boolean isStallOver() {
            return false;
        }

        @Override
        public void tidy() {}
    }

    @Test
    void shouldNotWaitForAConnectionInWhichAReaderBecomesInterestedAsItLeaves() {
        WatchList list = new WatchList(1);
        Idle connection = new Idle();
        list.add(connection);
        connection.becomesInterested = true;
        assertFalse(list.leaveAll(), "the connection is back on the list");
        assertTrue(connection.isListed());
        connection.becomesInterested = false;
        assertTrue(list.leaveAll());
        assertFalse(connection.isListed());
    }
}
