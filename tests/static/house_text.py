"""Reads the prose of a file, cut into sentences: comments, docstrings, Markdown, and the texts that a program or CMake shows its user."""

import bisect
import collections
import pathlib
import re
import textwrap

LANGUAGE = {".hpp": "c", ".h": "c", ".cpp": "c", ".c": "c", ".py": "py", ".sh": "sh", ".md": "md", ".cmake": "cmake",
            ".txt": "cmake"}

Line = collections.namedtuple("Line", "number text")
Comment = collections.namedtuple("Comment", "first last column own_line text")  # own_line: no code stands before it
Sentence = collections.namedtuple("Sentence", "line words text source")  # text: the source with ¤ for each letter of code


# ---- comments ----

C_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<end>[^()\s\\"]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|\b\d(?:'?[\w.])*|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL)
PYTHON_TOKEN = re.compile(r"""(?P<comment>\#(?!!)[^\n]*)|(?P<text>[rRfFbB]*(?P<q>\"{3}|'{3})(?:\\.|[^\\])*?(?P=q))"""
                          r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
SHELL_COMMENT = re.compile(r"""^((?:[^\n'"#]|"[^"\n]*"|'[^'\n]*'|(?<=\S)\#)*?)(?P<comment>(?<!\S)\#(?!!)[^\n]*)""", re.MULTILINE)


# ---- texts for users ----

CMAKE_TOKEN = re.compile(r"""(?P<comment>\#[^\n]*)|"(?:\\.|[^"\\])*\"""", re.DOTALL)
ESCAPED = re.compile(r"\\(.)")
PLACEHOLDER = re.compile(r"\{[^{}\s]*\}|%[-+ #\d.*]*[a-zA-Z]+|\$\{\w+\}")
# Plots, pages, shell words and the like: no sentences.
CODE_IN_TEXT = re.compile(r"[<>$;=\[\]]\S|\S[=(){}|]|--\w+ \w+ --|\\[nt].*\\[nt]")


def unescaped(match):
    return {"n": " ", "t": " "}.get(match[1], match[1])


def is_prose(text):
    """Whether a string is a sentence for a user."""
    return len(text.split()) > 3 and not CODE_IN_TEXT.search(PLACEHOLDER.sub("X", text))


class Text:
    """A file with its comments. `code` is the text of the same length in which comments and strings are blank."""

    def __init__(self, path, text):
        self.path, self.text, self.comments, self.strings = path, text, [], []
        self.language = LANGUAGE[pathlib.PurePath(path).suffix]
        self.starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.code = text
        if self.language == "c":
            self.code = C_TOKEN.sub(self._blank, text)
        elif self.language == "cmake":
            self.code = CMAKE_TOKEN.sub(self._blank, text)
        elif self.language != "md":
            for match in (PYTHON_TOKEN if self.language == "py" else SHELL_COMMENT).finditer(text):
                self._add_script_comment(match)

    def line(self, position):
        return bisect.bisect_right(self.starts, position)

    def _add(self, begin, end):
        first = self.line(begin)
        before = self.text[self.starts[first - 1]:begin]
        self.comments.append(Comment(first, self.line(end - 1), len(before), not before.strip(), self.text[begin:end]))

    def _blank(self, match):
        if match["comment"]:
            self._add(*match.span())
        elif match[0][0] == '"':
            self._add_string(match)
        elif match[0][0].isdigit():
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    def _add_string(self, match):
        """Neighbours are one string."""
        begin, end = match.span()
        text = match[0][1:-1]
        if self.strings and not self.text[self.strings[-1][1]:begin].strip():
            first, _, before = self.strings.pop()
            begin, text = first, before + text
        self.strings.append((begin, end, text))

    def texts(self):
        """The sentences for users as paragraphs, each of one line."""
        for begin, _, text in [] if self.path.startswith("tests/") else self.strings:
            if is_prose(text):
                yield [Line(self.line(begin), PLACEHOLDER.sub("X", ESCAPED.sub(unescaped, text)))]

    def _add_script_comment(self, match):
        if match["comment"]:
            self._add(*match.span("comment"))
        elif self.language == "py" and match["text"] and match["text"][0] in "\"'":
            before = self.text[:match.start()].rstrip(" ")
            if before[-1:] in ("", "\n") and before.rstrip()[-1:] not in tuple("(,=+[{\\"):  # a docstring
                self._add(*match.span())

    def blocks(self):
        """The comments as lists of lines of prose. Comments that stand below each other in one column are one block."""
        if self.language == "md":
            yield [Line(number, re.sub(r"^> ?", "", line)) for number, line in enumerate(self.text.splitlines(), start=1)]
        block, last = [], None
        for comment in self.comments:
            goes_on = last and comment.own_line and (comment.first, comment.column) == (last.last + 1, last.column)
            if block and (comment.text.startswith("/*") or not goes_on):
                yield block
                block = []
            block += prose_of(comment)
            last = comment
        if block:
            yield block


def prose_of(comment):
    """The lines of a comment without the marks around them, indented as they are against each other."""
    text = comment.text
    if text.startswith(("//", "#")):
        lines = [re.sub(r"^(?://[/!]?<?|#+) ?", "", text)]
    elif text.startswith("/*"):
        first, *rest = re.sub(r"\s*\*/$", "", text).split("\n")
        starred = all(re.match(r"\s*(\*|$)", line) for line in rest)
        rest = [re.sub(r"^\s*\* ?", "", line) for line in rest] if starred else textwrap.dedent("\n".join(rest)).split("\n")
        lines = [re.sub(r"^/\*+<? ?", "", first), *rest]
    else:
        first, *rest = text.strip("\"'").split("\n")
        lines = [first.strip(), *textwrap.dedent("\n".join(rest)).split("\n")]
    return [Line(comment.first + i, line) for i, line in enumerate(lines)]


# ---- sentences ----

MARKER = re.compile(r"([-*+•] |\d+[.)] |#+ |[@\\](?:param|tparam|returns?|brief|note|warning|pre|post)\b ?)\s*")
GAP = re.compile(r"[^\s.,:;!?] {2,}(?=\S)")
ONE_WORD = re.compile(r"`[^`]+`|\\f\$.*?\\f\$|\$[^$]+\$|\]\([^)\s]*\)|https?://\S+")
FORMULA = re.compile(r"\S+(?:\s+(?:[-+*/=<>≤≥·×→|&^]{1,2})\s+\S+)+")
SENTENCE_END = re.compile(r"[.!?][\"')\]*]*\s+(?=[A-Z¤(@\"'\[*\d]|[a-z]\w*(?:[_(]|::))|:\s+(?=[A-Z])")
HAS_LETTER = re.compile(r"[\w¤]").search


def paragraphs(block):
    """The paragraphs and list entries of a block, without code, tables and formulas that stand alone."""
    current, hang, fenced = [], None, False
    for number, text in block:
        stripped = text.strip()
        fence = re.match(r"```|~~~|[@\\](?:end)?code\b", stripped)
        fenced ^= bool(fence)
        indent = len(text) - len(text.lstrip())
        marker, gap = MARKER.match(stripped), GAP.search(stripped)
        skipped = fence or fenced or not stripped or stripped[0] in "|<"
        if not skipped and not marker and indent == hang and not (gap and indent):
            current.append(Line(number, stripped))
            continue
        if current:
            yield current
        current, hang = [], None
        if skipped:
            continue
        if marker or gap:  # an entry of a list, or of a table of terms and meanings
            at = marker.end() if marker else gap.end()
            current, hang = [Line(number, stripped[at:])], indent + at
        elif indent < 4 and not (indent and stripped[-1] in ";{}"):
            current, hang = [Line(number, stripped)], indent
    if current:
        yield current


def sentences(paragraph):
    """The sentences of a paragraph. Code, links and formulas in them count as one word each."""
    source = " ".join(line.text for line in paragraph)
    text = ONE_WORD.sub(lambda m: "¤" * len(m[0]), source)
    starts = [0]
    for line in paragraph[:-1]:
        starts.append(starts[-1] + len(line.text) + 1)
    ends = [m.end() for m in SENTENCE_END.finditer(text)] + [len(text)]
    for begin, end in zip([0, *ends], ends):
        words = FORMULA.sub("¤", text[begin:end]).split()
        count = sum(1 for word in words if HAS_LETTER(word))
        yield Sentence(paragraph[bisect.bisect_right(starts, begin) - 1].number, count, text[begin:end].strip(), source[begin:end].strip())
