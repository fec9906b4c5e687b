package io.madeleine.cli;

import io.madeleine.api.ConfigurationException;
import io.madeleine.session.Sessions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code mad secret}: generates a strong secret.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = "secret",
        header = "Makes a secret for sessions that nobody can guess, in a file that only its owner can read.",
        synopsisHeading = "Usage: ",
        abbreviateSynopsis = true,
        description = {
            "",
            "Processes on several machines, and programs that attach to each other, need the same secret. Copy the file"
                    + " to each machine and name it there: madeleine.session.secret-file = FILE. mad run generates a"
                    + " secret for the processes it starts.",
            "",
        },
        parameterListHeading = "Parameters:%n",
        optionListHeading = "%nOptions:%n",
        footer = {
            "",
            "Exit codes:",
            "  0  the secret was made",
            "  1  the file could not be written, or is there already",
            "  2  the command line is wrong",
            "",
            "Examples:",
            "  mad secret cluster.secret",
            "  mad secret",
        })
final class SecretCommand implements Runnable {
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            description = "A new file, of mode 600. Default: prints the secret.")
    @Nullable
    Path file;

    @Mixin
    GeneralOptions general = new GeneralOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        if (file != null && file.toString().isBlank()) {
            throw new ParameterException(spec.commandLine(), "\"" + file + "\": expected the name of a new file");
        }
        String secret = Sessions.newSecret() + "\n";
        if (file == null) {
            PrintWriter out = spec.commandLine().getOut();
            out.print(secret);
            out.flush();
        } else {
            write(file, secret);
        }
    }

    private static void write(Path file, String secret) {
        Set<StandardOpenOption> how = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (SeekableByteChannel channel = open(file, how)) {
            channel.write(ByteBuffer.wrap(secret.getBytes(StandardCharsets.US_ASCII)));
        } catch (FileAlreadyExistsException e) {
            throw new ConfigurationException(
                    file + " is there already: expected a new file, so that no secret is lost", e);
        } catch (NoSuchFileException e) {
            throw new ConfigurationException(
                    file + " cannot be written: there is no folder "
                            + file.toAbsolutePath().getParent(),
                    e);
        } catch (AccessDeniedException e) {
            throw new ConfigurationException(
                    file + " cannot be written: this user may not write in the folder "
                            + file.toAbsolutePath().getParent(),
                    e);
        } catch (IOException e) {
            throw new ConfigurationException(file + " cannot be written: " + e, e);
        }
    }

    private static SeekableByteChannel open(Path file, Set<StandardOpenOption> how) throws IOException {
        try {
            return Files.newByteChannel(file, how, OWNER_ONLY);
        } catch (UnsupportedOperationException _) { // the file system has no modes
            return Files.newByteChannel(file, how);
        }
    }
}
