package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiDomainAttr;
import io.madeleine.tm.via.ffi.Offsets.FiEpAttr;
import io.madeleine.tm.via.ffi.Offsets.FiFabricAttr;
import io.madeleine.tm.via.ffi.Offsets.FiInfo;
import io.madeleine.tm.via.ffi.Offsets.FiRxAttr;
import io.madeleine.tm.via.ffi.Offsets.FiTxAttr;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * One offer of libfabric: a provider with the properties of an endpoint that it can open.
 *
 * <p>Ownership: the object owns its fi_info until it is closed.
 *
 * <p>Threading: immutable once it is published; do not use it after it is closed.
 */
public final class FabricInfo implements AutoCloseable {
    private static final long NAMES_CONTEXT = Flags.FI_CONTEXT | Flags.FI_CONTEXT2;

    private final FabricLibrary library;
    private final long info;
    private Extras extras = Extras.NONE;

    private FabricInfo(FabricLibrary library, long info) {
        this.library = library;
        this.info = info;
    }

    /**
     * What an endpoint has to offer.
     *
     * @param provider the provider, such as "tcp;ofi_rxm"; empty for all
     * @param domain the domain, such as "mlx5_0"; empty for all
     * @param source the own address, such as "127.0.0.1"; empty for the provider's choice
     * @param tagged whether receives have to select messages by tags
     */
    public record Query(Optional<String> provider, Optional<String> domain, Optional<String> source, boolean tagged) {
        /** An endpoint without tags. */
        public Query(Optional<String> provider, Optional<String> domain, Optional<String> source) {
            this(provider, domain, source, false);
        }
    }

    /**
     * What remote memory needs, and messages do not.
     *
     * @param atomics whether words can be updated atomically
     * @param visible whether the completion of a write can say that the peer sees it
     */
    public record Extras(boolean atomics, boolean visible) {
        /** Nothing. */
        public static final Extras NONE = new Extras(false, false);
    }

    /** Asks for the same endpoint with these extras; empty if the provider has none. */
    public Optional<FabricInfo> with(Extras extras, Query query) {
        List<FabricInfo> offers = find(library, query, extras);
        Optional<FabricInfo> same = offers.stream()
                .filter(offer -> offer.provider().equals(provider())
                        && offer.domainName().equals(domainName())
                        && offer.fabricName().equals(fabricName()))
                .findFirst();
        offers.stream().filter(offer -> same.filter(offer::equals).isEmpty()).forEach(FabricInfo::close);
        same.ifPresent(offer -> offer.clearDefaults(extras));
        return same;
    }

    /** Operations complete as usual, unless one asks for more. */
    private void clearDefaults(Extras asked) {
        Raw.putPointer(transmit() + FiTxAttr.OP_FLAGS, 0);
        extras = asked;
    }

    /**
     * Asks for endpoints with reliable datagrams, messages in order, and remote memory access.
     *
     * @return the offers, best first as libfabric orders them; the caller closes them
     */
    public static List<FabricInfo> find(FabricLibrary library, Query query) {
        return find(library, query, Extras.NONE);
    }

    private static List<FabricInfo> find(FabricLibrary library, Query query, Extras extras) {
        long hints = library.newInfo();
        try {
            Raw.putPointer(
                    hints + FiInfo.CAPS,
                    Flags.FI_MSG
                            | Flags.FI_RMA
                            | (query.tagged ? Flags.FI_TAGGED : 0)
                            | (extras.atomics() ? Flags.FI_ATOMIC : 0));
            Raw.putPointer(
                    Raw.pointer(hints + FiInfo.TX_ATTR) + FiTxAttr.OP_FLAGS,
                    extras.visible() ? Flags.FI_DELIVERY_COMPLETE : 0);
            Raw.putPointer(hints + FiInfo.MODE, NAMES_CONTEXT | Flags.FI_RX_CQ_DATA);
            Raw.putNumber(Raw.pointer(hints + FiInfo.EP_ATTR) + FiEpAttr.TYPE, Flags.FI_EP_RDM);
            Raw.putPointer(Raw.pointer(hints + FiInfo.TX_ATTR) + FiTxAttr.MSG_ORDER, Flags.FI_ORDER_SAS);
            Raw.putPointer(Raw.pointer(hints + FiInfo.RX_ATTR) + FiRxAttr.MSG_ORDER, Flags.FI_ORDER_SAS);
            long domain = Raw.pointer(hints + FiInfo.DOMAIN_ATTR);
            Raw.putNumber(domain + FiDomainAttr.THREADING, Flags.FI_THREAD_SAFE);
            Raw.putNumber(
                    domain + FiDomainAttr.MR_MODE,
                    Flags.FI_MR_LOCAL
                            | Flags.FI_MR_VIRT_ADDR
                            | Flags.FI_MR_ALLOCATED
                            | Flags.FI_MR_PROV_KEY
                            | Flags.FI_MR_ENDPOINT);
            query.domain.ifPresent(name -> Raw.putPointer(domain + FiDomainAttr.NAME, Libc.duplicate(name)));
            query.provider.ifPresent(name -> Raw.putPointer(
                    Raw.pointer(hints + FiInfo.FABRIC_ATTR) + FiFabricAttr.PROV_NAME, Libc.duplicate(name)));
            long flags = query.source.isPresent() ? Flags.FI_SOURCE : 0;
            return split(library, library.getInfo(query.source, flags, hints));
        } finally {
            library.freeInfo(hints);
        }
    }

    /** The names of all providers that libfabric was built with or has loaded, whether or not they can be used here. */
    public static Set<String> installed(FabricLibrary library) {
        List<FabricInfo> all = split(library, library.getInfo(Optional.empty(), Flags.FI_PROV_ATTR_ONLY, 0));
        Set<String> names = new TreeSet<>();
        for (FabricInfo each : all) {
            names.add(each.provider());
            each.close();
        }
        return names;
    }

    private static List<FabricInfo> split(FabricLibrary library, long list) {
        List<FabricInfo> all = new ArrayList<>();
        try {
            for (long next = list; next != 0; next = Raw.pointer(next + FiInfo.NEXT)) {
                all.add(new FabricInfo(library, library.copyInfo(next)));
            }
        } finally {
            if (list != 0) {
                library.freeInfo(list);
            }
        }
        return all;
    }

    FabricLibrary library() {
        return library;
    }

    long address() {
        return info;
    }

    long fabricAttributes() {
        return Raw.pointer(info + FiInfo.FABRIC_ATTR);
    }

    private long transmit() {
        return Raw.pointer(info + FiInfo.TX_ATTR);
    }

    private long domain() {
        return Raw.pointer(info + FiInfo.DOMAIN_ATTR);
    }

    /** The provider's name, such as "tcp;ofi_rxm". */
    public String provider() {
        return Raw.text(Raw.pointer(fabricAttributes() + FiFabricAttr.PROV_NAME));
    }

    /** The fabric's name, such as "127.0.0.0/8". */
    public String fabricName() {
        return Raw.text(Raw.pointer(fabricAttributes() + FiFabricAttr.NAME));
    }

    /** The domain's name, such as "mlx5_0". */
    public String domainName() {
        return Raw.text(Raw.pointer(domain() + FiDomainAttr.NAME));
    }

    /** The longest message that can be injected, in bytes. */
    public long injectBytes() {
        return Raw.pointer(transmit() + FiTxAttr.INJECT_SIZE);
    }

    /** How many sends and writes may be outstanding. */
    public int sendCount() {
        return (int) Math.min(Integer.MAX_VALUE, Raw.pointer(transmit() + FiTxAttr.SIZE));
    }

    /** How many receives may be posted. */
    public int receiveCount() {
        return (int) Math.min(Integer.MAX_VALUE, Raw.pointer(Raw.pointer(info + FiInfo.RX_ATTR) + FiRxAttr.SIZE));
    }

    /** The size of immediate data in bytes; 0 if there is none. */
    public long immediateBytes() {
        return Raw.pointer(domain() + FiDomainAttr.CQ_DATA_SIZE);
    }

    /** The size of the keys of registered memory in bytes. */
    public long keyBytes() {
        return Raw.pointer(domain() + FiDomainAttr.MR_KEY_SIZE);
    }

    /** How many ranges a message may have, on either side. */
    public int rangeCount() {
        long sent = Raw.pointer(transmit() + FiTxAttr.IOV_LIMIT);
        long received = Raw.pointer(Raw.pointer(info + FiInfo.RX_ATTR) + FiRxAttr.IOV_LIMIT);
        return Math.clamp(Math.min(sent, received), 1, Integer.MAX_VALUE);
    }

    /** How many bits a tag has; 0 if there are no tagged messages. */
    public int tagBits() {
        boolean has = (Raw.pointer(info + FiInfo.CAPS) & Flags.FI_TAGGED) != 0;
        return has
                ? Long.SIZE
                        - Long.numberOfLeadingZeros(
                                Raw.pointer(Raw.pointer(info + FiInfo.EP_ATTR) + FiEpAttr.MEM_TAG_FORMAT))
                : 0;
    }

    /** The longest message in bytes. */
    public long maxMessageBytes() {
        long bytes = Raw.pointer(Raw.pointer(info + FiInfo.EP_ATTR) + FiEpAttr.MAX_MSG_SIZE);
        return bytes < 0 ? Long.MAX_VALUE : bytes; // an unsigned number
    }

    /** Whether the registration mode has this flag. */
    public boolean hasRegistration(int flag) {
        return (Raw.number(domain() + FiDomainAttr.MR_MODE) & flag) != 0;
    }

    /** Asks for virtual addresses where the provider would take offsets too. */
    public void useVirtualAddresses() {
        long mode = domain() + FiDomainAttr.MR_MODE;
        Raw.putNumber(mode, Raw.number(mode) | Flags.FI_MR_VIRT_ADDR);
    }

    /** Whether each operation needs memory for its context. */
    public boolean needsContext() {
        return (Raw.pointer(info + FiInfo.MODE) & NAMES_CONTEXT) != 0;
    }

    /** Whether a write with immediate data uses up a posted receive. */
    public boolean immediateUsesReceive() {
        return (Raw.pointer(info + FiInfo.MODE) & Flags.FI_RX_CQ_DATA) != 0;
    }

    /** Whether the provider says that words can be updated atomically. */
    public boolean hasAtomics() {
        return extras.atomics();
    }

    /** Whether the completion of a write can say that the peer sees it. */
    public boolean hasVisibleWrites() {
        return extras.visible();
    }

    /** All properties, as libfabric prints them. */
    public String describe() {
        return library.describe(info, Flags.FI_TYPE_INFO);
    }

    @Override
    public void close() {
        library.freeInfo(info);
    }
}
