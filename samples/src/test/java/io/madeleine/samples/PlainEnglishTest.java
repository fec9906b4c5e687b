package io.madeleine.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Comments of the main code, and the documents of today, are plain English: sentences that one reading is enough for.
 */
class PlainEnglishTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final int MOST_WORDS = 45;
    private static final int MOST_COLUMNS = 120;

    /** A riddle, and what to say instead. */
    private static final Map<Pattern, String> RIDDLES = Map.of(
            Pattern.compile("(?:^|[.:;(] )Who(?:ever)?\\b(?![^.]*\\?)"), "a noun: the thread that, a process that",
            Pattern.compile("\\b(?:brings?|brought) about\\b"), "causes, ends, completes",
            Pattern.compile("\\blooks? away\\b"), "stops polling",
            Pattern.compile("\\bin vain\\b"), "without result",
            Pattern.compile("\\bsees to it\\b"), "what is done",
            Pattern.compile("\\bof its own accord\\b"), "without being asked");

    @Test
    void shouldHaveNoRiddlesInCommentsAndDocuments() throws IOException {
        TreeSet<String> found = new TreeSet<>();
        for (Path file : sources()) {
            comments(read(file)).forEach(comment -> addRiddles(comment, file, found));
        }
        for (Path file : documents()) {
            addRiddles(read(file), file, found);
        }
        assertEquals("", String.join("\n", found));
    }

    private static void addRiddles(String text, Path file, TreeSet<String> found) {
        RIDDLES.forEach((riddle, instead) -> {
            Matcher hit = riddle.matcher(text);
            if (hit.find()) {
                found.add(ROOT.relativize(file) + ": \"" + hit.group().strip() + "\": " + instead);
            }
        });
    }

    @Test
    void shouldHaveNoSentenceInCommentsThatIsTooLong() throws IOException {
        TreeSet<String> found = new TreeSet<>();
        for (Path file : sources()) {
            for (String comment : comments(read(file))) {
                addLong(comment, file, found);
            }
        }
        assertEquals("", String.join("\n", found));
    }

    /** The formatter leaves comments as they are. */
    @Test
    void shouldKeepCommentsWithinTheWidthOfALine() throws IOException {
        TreeSet<String> found = new TreeSet<>();
        for (Path file :
                SourceTree.files(ROOT, each -> each.toString().matches(".*/src/(?:main|test)/java/.*\\.java"))) {
            read(file)
                    .lines()
                    .filter(line -> line.length() > MOST_COLUMNS && line.matches("\\s*(?:/?\\*|//).*"))
                    .forEach(line -> found.add(ROOT.relativize(file) + ": " + line.strip()));
        }
        assertEquals("", String.join("\n", found));
    }

    @Test
    void shouldHaveNoSentenceInDocumentsThatIsTooLong() throws IOException {
        TreeSet<String> found = new TreeSet<>();
        for (Path file : documents()) {
            String text = read(file).replaceAll("(?s)```.*?```", "").replaceAll("(?m)^(?:    .*|\\|.*)$", "");
            for (String paragraph : text.split("\n\\s*\n|\n- |\n\\d+\\. ")) {
                addLong(paragraph, file, found);
            }
        }
        assertEquals("", String.join("\n", found));
    }

    private static void addLong(String text, Path file, TreeSet<String> found) {
        for (String sentence : text.split("(?<=[.;:?!])\\s+|<p>|<li>|@(?:param|return|throws)\\b|\n\\s*\n")) {
            int words = sentence.strip().split("\\s+").length;
            if (words > MOST_WORDS) {
                found.add(ROOT.relativize(file) + ": " + words + " words: "
                        + sentence.strip()
                                .substring(0, Math.min(80, sentence.strip().length())));
            }
        }
    }

    private static List<String> comments(String source) {
        return Pattern.compile("/\\*\\*?(.*?)\\*/|(?<=\\s)// ([^\n]*)", Pattern.DOTALL)
                .matcher(source.replaceAll("(?s)<pre>.*?</pre>", ""))
                .results()
                .map(hit -> hit.group(1) == null ? hit.group(2) : hit.group(1))
                .map(text -> text.replaceAll("(?m)^\\s*\\* ?", " ").replaceAll("[ \\t]+", " "))
                .toList();
    }

    /** Those at the top, of the modules and in docs; the change log has sentences of their time. */
    private static List<Path> documents() throws IOException {
        return SourceTree.files(ROOT, file -> file.toString().endsWith(".md") && !file.endsWith("CHANGELOG.md"));
    }

    private static List<Path> sources() throws IOException {
        return SourceTree.files(
                ROOT,
                file -> file.toString().contains("/src/main/java/")
                        && file.toString().endsWith(".java")
                        && !ROOT.relativize(file).startsWith("bench"));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
