package io.madeleine.tm.via.ffi;

/**
 * The offsets in libfabric's structs that the binding uses, on 64-bit systems. They are equal in all releases from 1.14
 * to 2.x: only the ends of some structs grew. Each nested class is named after a struct, in camel case, and each of its
 * constants after a field; a test compares them with the installed headers.
 *
 * <p>Threading: stateless.
 */
final class Offsets {
    private Offsets() {}

    /** struct fi_info. */
    static final class FiInfo {
        static final int NEXT = 0;
        static final int CAPS = 8;
        static final int MODE = 16;
        static final int SRC_ADDRLEN = 32;
        static final int SRC_ADDR = 48;
        static final int TX_ATTR = 72;
        static final int RX_ATTR = 80;
        static final int EP_ATTR = 88;
        static final int DOMAIN_ATTR = 96;
        static final int FABRIC_ATTR = 104;

        private FiInfo() {}
    }

    /** struct fi_tx_attr. */
    static final class FiTxAttr {
        static final int OP_FLAGS = 16;
        static final int MSG_ORDER = 24;
        static final int INJECT_SIZE = 40;
        static final int SIZE = 48;
        static final int IOV_LIMIT = 56;
        static final int RMA_IOV_LIMIT = 64;

        private FiTxAttr() {}
    }

    /** struct fi_rx_attr. */
    static final class FiRxAttr {
        static final int MSG_ORDER = 24;
        static final int SIZE = 48;
        static final int IOV_LIMIT = 56;

        private FiRxAttr() {}
    }

    /** struct fi_ep_attr. */
    static final class FiEpAttr {
        static final int TYPE = 0;
        static final int MAX_MSG_SIZE = 16;
        static final int MAX_ORDER_WAW_SIZE = 48;
        static final int MEM_TAG_FORMAT = 56;

        private FiEpAttr() {}
    }

    /** struct fi_domain_attr. */
    static final class FiDomainAttr {
        static final int NAME = 8;
        static final int THREADING = 16;
        static final int DATA_PROGRESS = 24;
        static final int AV_TYPE = 32;
        static final int MR_MODE = 36;
        static final int MR_KEY_SIZE = 40;
        static final int CQ_DATA_SIZE = 48;

        private FiDomainAttr() {}
    }

    /** struct fi_fabric_attr. */
    static final class FiFabricAttr {
        static final int NAME = 8;
        static final int PROV_NAME = 16;
        static final int PROV_VERSION = 24;

        private FiFabricAttr() {}
    }

    /** struct fi_cq_attr. */
    static final class FiCqAttr {
        static final int SIZE = 0;
        static final int FORMAT = 16;
        static final int WAIT_OBJ = 20;

        private FiCqAttr() {}
    }

    /** struct fi_av_attr. */
    static final class FiAvAttr {
        static final int TYPE = 0;
        static final int COUNT = 8;

        private FiAvAttr() {}
    }

    /** struct fi_cq_data_entry. */
    static final class FiCqDataEntry {
        static final int OP_CONTEXT = 0;
        static final int FLAGS = 8;
        static final int LEN = 16;
        static final int DATA = 32;

        private FiCqDataEntry() {}
    }

    /** struct fi_cq_err_entry. */
    static final class FiCqErrEntry {
        static final int OP_CONTEXT = 0;
        static final int FLAGS = 8;
        static final int ERR = 56;
        static final int PROV_ERRNO = 60;
        static final int ERR_DATA = 64;
        static final int ERR_DATA_SIZE = 72;

        private FiCqErrEntry() {}
    }

    /** struct fid. */
    static final class Fid {
        static final int OPS = 16;

        private Fid() {}
    }

    /** struct fi_ops. */
    static final class FiOps {
        static final int CLOSE = 8;
        static final int BIND = 16;
        static final int CONTROL = 24;

        private FiOps() {}
    }

    /** struct fid_fabric. */
    static final class FidFabric {
        static final int OPS = 24;

        private FidFabric() {}
    }

    /** struct fi_ops_fabric. */
    static final class FiOpsFabric {
        static final int DOMAIN = 8;
        static final int TRYWAIT = 40;

        private FiOpsFabric() {}
    }

    /** struct fid_domain. */
    static final class FidDomain {
        static final int OPS = 24;
        static final int MR = 32;

        private FidDomain() {}
    }

    /** struct fi_ops_domain. */
    static final class FiOpsDomain {
        static final int AV_OPEN = 8;
        static final int CQ_OPEN = 16;
        static final int ENDPOINT = 24;

        private FiOpsDomain() {}
    }

    /** struct fi_ops_mr. */
    static final class FiOpsMr {
        static final int REG = 8;

        private FiOpsMr() {}
    }

    /** struct fid_mr. */
    static final class FidMr {
        static final int MEM_DESC = 24;
        static final int KEY = 32;

        private FidMr() {}
    }

    /** struct fid_ep. */
    static final class FidEp {
        static final int OPS = 24;
        static final int CM = 32;
        static final int MSG = 40;
        static final int RMA = 48;
        static final int TAGGED = 56;
        static final int ATOMIC = 64;

        private FidEp() {}
    }

    /** struct fi_ops_ep. */
    static final class FiOpsEp {
        static final int CANCEL = 8;

        private FiOpsEp() {}
    }

    /** struct fi_ops_cm. */
    static final class FiOpsCm {
        static final int GETNAME = 16;

        private FiOpsCm() {}
    }

    /** struct fi_ops_msg. */
    static final class FiOpsMsg {
        static final int RECV = 8;
        static final int SEND = 32;
        static final int INJECT = 56;

        private FiOpsMsg() {}
    }

    /** struct fi_ops_tagged. */
    static final class FiOpsTagged {
        static final int RECVV = 16;
        static final int SENDV = 40;

        private FiOpsTagged() {}
    }

    /** struct fi_ops_rma. */
    static final class FiOpsRma {
        static final int READ = 8;
        static final int WRITE = 32;
        static final int WRITEMSG = 48;
        static final int WRITEDATA = 64;

        private FiOpsRma() {}
    }

    /** struct fi_ops_atomic. */
    static final class FiOpsAtomic {
        static final int READWRITE = 40;
        static final int COMPWRITE = 64;
        static final int READWRITEVALID = 96;
        static final int COMPWRITEVALID = 104;

        private FiOpsAtomic() {}
    }

    /** struct fi_msg_rma. */
    static final class FiMsgRma {
        static final int MSG_IOV = 0;
        static final int DESC = 8;
        static final int IOV_COUNT = 16;
        static final int ADDR = 24;
        static final int RMA_IOV = 32;
        static final int RMA_IOV_COUNT = 40;
        static final int CONTEXT = 48;
        static final int DATA = 56;

        private FiMsgRma() {}
    }

    /** struct fi_rma_iov. */
    static final class FiRmaIov {
        static final int ADDR = 0;
        static final int LEN = 8;
        static final int KEY = 16;

        private FiRmaIov() {}
    }

    /** struct fid_cq. */
    static final class FidCq {
        static final int OPS = 24;

        private FidCq() {}
    }

    /** struct fi_ops_cq. */
    static final class FiOpsCq {
        static final int READ = 8;
        static final int READERR = 24;
        static final int STRERROR = 56;

        private FiOpsCq() {}
    }

    /** struct fid_av. */
    static final class FidAv {
        static final int OPS = 24;

        private FidAv() {}
    }

    /** struct fi_ops_av. */
    static final class FiOpsAv {
        static final int INSERT = 8;
        static final int REMOVE = 32;

        private FiOpsAv() {}
    }
}
