package io.madeleine.bench.peer;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Wire;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * gRPC-Java with its own Netty: rank 1 serves an echo of bytes, rank 0 calls it. Both ends run what is called in the
 * event loop ({@code directExecutor}), which is its fastest way; messages are bytes, without protobuf.
 *
 * <p>Threading: confined to caller.
 */
final class GrpcWire implements Wire {
    private static final int MOST_BYTES = 1 << 30;
    private static final String SERVICE = "madeleine.bench.Echo";
    private static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.UNARY);
    private static final MethodDescriptor<byte[], byte[]> STREAM = method("Stream", MethodType.BIDI_STREAMING);
    private static final MethodDescriptor<byte[], byte[]> CONTROL = method("Control", MethodType.UNARY);

    private final BlockingQueue<byte[]> inbox = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> streamed = new SynchronousQueue<>();
    private final boolean bidi;
    private @Nullable Server server;
    private @Nullable ManagedChannel channel;
    private @Nullable StreamObserver<byte[]> stream;
    private @Nullable EventLoopGroup group;
    private byte[] content = {};

    private GrpcWire(boolean bidi) {
        this.bidi = bidi;
    }

    static GrpcWire open(boolean unix, boolean bidi, int rank, ControlLine line) throws IOException {
        GrpcWire wire = new GrpcWire(bidi);
        if (rank == 1) {
            line.exchangeContacts(wire.serve(unix));
        } else {
            wire.connect(unix, line.exchangeContacts("-"));
        }
        return wire;
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        return MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                .setRequestMarshaller(new Bytes())
                .setResponseMarshaller(new Bytes())
                .build();
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private ServerServiceDefinition service() {
        return ServerServiceDefinition.builder(SERVICE)
                .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, answer) -> reply(answer, request)))
                .addMethod(CONTROL, ServerCalls.asyncUnaryCall((request, answer) -> {
                    inbox.add(request);
                    reply(answer, new byte[0]);
                }))
                .addMethod(STREAM, ServerCalls.asyncBidiStreamingCall(answer -> observer(answer::onNext)))
                .build();
    }

    private static void reply(StreamObserver<byte[]> answer, byte[] bytes) {
        answer.onNext(bytes);
        answer.onCompleted();
    }

    private static StreamObserver<byte[]> observer(java.util.function.Consumer<byte[]> onNext) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                onNext.accept(value);
            }

            @Override
            public void onError(Throwable thrown) {
                // the other end is gone, which the control line tells
            }

            @Override
            public void onCompleted() {}
        };
    }

    private String serve(boolean unix) throws IOException {
        String contact;
        NettyServerBuilder builder;
        if (unix) {
            Path path = Files.createTempDirectory("madeleine-perf-grpc").resolve("socket");
            contact = path.toString();
            EventLoopGroup loops = new EpollEventLoopGroup(1);
            group = loops;
            builder = NettyServerBuilder.forAddress(new DomainSocketAddress(contact))
                    .channelType(EpollServerDomainSocketChannel.class)
                    .bossEventLoopGroup(loops)
                    .workerEventLoopGroup(loops);
        } else {
            contact = "";
            builder = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        }
        Server started = builder.directExecutor()
                .maxInboundMessageSize(MOST_BYTES)
                .addService(service())
                .build()
                .start();
        server = started;
        return unix ? contact : Integer.toString(started.getPort());
    }

    private void connect(boolean unix, String contact) {
        SocketAddress address = unix
                ? new DomainSocketAddress(contact)
                : new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(contact));
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address);
        if (unix) {
            EventLoopGroup loops = new EpollEventLoopGroup(1);
            group = loops;
            builder.channelType(EpollDomainSocketChannel.class)
                    .eventLoopGroup(loops)
                    .overrideAuthority("localhost");
        }
        ManagedChannel opened = builder.usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(MOST_BYTES)
                .build();
        channel = opened;
        if (bidi) {
            stream = ClientCalls.asyncBidiStreamingCall(
                    opened.newCall(STREAM, CallOptions.DEFAULT), observer(this::arrived));
        }
    }

    private void arrived(byte[] value) {
        try {
            streamed.put(value);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void call(Pattern pattern, Block request, Block answer, long bytes) {
        byte[] echoed = bidi ? callOverStream(request, bytes) : unary(ECHO, bytesOf(request, bytes));
        MemorySegment.copy(echoed, 0, answer.memory(), ValueLayout.JAVA_BYTE, 0, echoed.length);
    }

    private byte[] callOverStream(Block request, long bytes) {
        StreamObserver<byte[]> open = stream;
        if (open == null) {
            throw new IllegalStateException("rank 0 calls");
        }
        open.onNext(bytesOf(request, bytes));
        try {
            byte[] echoed = streamed.poll(PATIENCE_NS, TimeUnit.NANOSECONDS);
            if (echoed == null) {
                throw new MeasuringException("a call was not answered");
            }
            return echoed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException("interrupted", e);
        }
    }

    private byte[] unary(MethodDescriptor<byte[], byte[]> method, byte[] bytes) {
        ManagedChannel open = channel;
        if (open == null) {
            throw new IllegalStateException("rank 0 calls");
        }
        return ClientCalls.blockingUnaryCall(open, method, CallOptions.DEFAULT, bytes);
    }

    private byte[] bytesOf(Block block, long bytes) {
        if (content.length != bytes) {
            content = new byte[(int) bytes];
        }
        MemorySegment.copy(block.memory(), ValueLayout.JAVA_BYTE, 0, content, 0, content.length);
        return content;
    }

    @Override
    public void calls(Block request, long bytes, long count, int atOnce) {
        ManagedChannel open = channel;
        if (open == null) {
            throw new IllegalStateException("rank 0 calls");
        }
        byte[] bytesSent = bytesOf(request, bytes);
        Semaphore turns = new Semaphore(atOnce);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        StreamObserver<byte[]> observer = new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {}

            @Override
            public void onError(Throwable thrown) {
                failure.set(thrown);
                turns.release();
            }

            @Override
            public void onCompleted() {
                turns.release();
            }
        };
        for (long i = 0; i < count; i++) {
            turns.acquireUninterruptibly();
            ClientCalls.asyncUnaryCall(open.newCall(ECHO, CallOptions.DEFAULT), bytesSent, observer);
        }
        turns.acquireUninterruptibly(atOnce);
        if (failure.get() != null) {
            throw new MeasuringException("a call failed: " + failure.get(), failure.get());
        }
    }

    @Override
    public void send(Block block, long bytes) {
        unary(CONTROL, block.memory().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void receive(Block block, long bytes) {
        try {
            byte[] control = inbox.take(); // an order: the process waits for it without a bound
            MemorySegment.copy(control, 0, block.memory(), ValueLayout.JAVA_BYTE, 0, control.length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException("interrupted", e);
        }
    }

    @Override
    public void close() {
        if (channel != null) {
            channel.shutdownNow();
        }
        if (server != null) {
            server.shutdownNow();
        }
        if (group != null) {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
    }
}
