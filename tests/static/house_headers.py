"""Lists what a header declares in namespaces and in the public parts of its classes, and what of it has no comment.

The scanner follows brackets; it does not parse C++. Where it cannot tell what a declaration is, it leaves it out.
"""

import re

STOP = re.compile(r"[;{(]|\b(public|private|protected)\s*:(?!:)")
TYPE = re.compile(r"(?:template\b.*?)?\b(class|struct|union|enum(?: class| struct)?)(?: alignas \(\))?(?: (\w+))?(?: final)?(?=$| ?:(?!:))")
CONCEPT = re.compile(r"template\b.*?\bconcept (\w+) =")
FUNCTION = re.compile(r"(?<![\w:])(?!(?:requires|alignas|decltype|noexcept|explicit|static_assert)\b)([\w:~]+) ?\(\)")
# Operators, defaulted and deleted functions need no comment, and an overriding function has the one of its base.
NEEDS_NONE = re.compile(r"\boperator\b|= (?:default|delete)$|\boverride\b|^(?:using|typedef|static_assert|extern template)\b")
NO_RESULT_TYPE = re.compile(r"\b(?:constexpr|consteval|inline|static|explicit|friend|extern|virtual|template|requires)\b|\(\)|[&|¤\s]")
# The brace that follows belongs to a requires-expression or initialises a member: the function's body is still to come.
UNFINISHED = re.compile(r"(?:\b(?:requires|=|&&|\|\|) requires(?: ?\(\))?|\) ?(?:noexcept(?: ?\(\))? ?)?:(?!:).*[\w¤])$")
HIDDEN_NAMESPACE = re.compile(r"namespace$|\b(?:\w+_)?(?:detail|internal)\b")
TOOL_COMMENT = re.compile(r"clang-format o|NOLINT")


def without_directives(code):
    """The code without preprocessor lines and without what stands after #else, so that brackets match."""
    others, lines, continued = [], [], False
    for line in code.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if directive and directive[1].startswith("if"):
            others.append(False)
        elif directive and others and directive[1] == "endif":
            others.pop()
        elif directive and others and directive[1].startswith("el"):
            others[-1] = True
        blank = directive or continued or any(others)
        continued = bool(directive or continued) and line.endswith("\\")
        lines.append(" " * len(line) if blank else line)
    return "\n".join(lines)


def partners(code):
    """The position of the closing bracket for each opening one."""
    found, stack = {}, []
    for match in re.finditer(r"[(){}]", code):
        if match[0] in "({":
            stack.append(match.start())
        elif stack:
            found[stack.pop()] = match.start()
    return found


class Header:
    """`types`: (name, line) of each type in a namespace; `anonymous_enums`: lines; `undocumented`: (name, line)."""

    def __init__(self, file):
        self.file, self.code = file, without_directives(file.code)
        self.closing = partners(self.code)
        self.types, self.anonymous_enums, self.missing, self.documented = [], [], [], set()
        comments = [c for c in file.comments if not TOOL_COMMENT.search(c.text)]
        self.comment_lines = {c.first for c in comments}
        self.comment_ends = {c.last for c in comments if c.own_line and not c.text.startswith("///<")}
        # A comment may stand above lines for tools.
        self.passed_over = {c.first for c in file.comments if c.own_line and TOOL_COMMENT.search(c.text)}
        self.passed_over |= {number for number, line in enumerate(file.text.split("\n"), start=1) if re.match(r"\s*#", line)}
        self._scan(0, len(self.code), "", public=True)
        # Overloads share the comment of one of them.
        self.undocumented = [(name, line) for scope, name, line in self.missing if (scope, name) not in self.documented]

    def _flat(self, begin, end):
        """A declaration's head without the contents of brackets, attributes and template arguments."""
        out, at = "", begin
        while match := re.compile(r"[({]").search(self.code, at, end):
            out += self.code[at:match.start()] + (" ()" if match[0] == "(" else " {}")
            at = self.closing.get(match.start(), end) + 1
        out = re.sub(r"\[\[.*?\]\]|__attribute__ ?\(\)|\bTAKT_\w+( ?\(\))?", " ", out + self.code[at:end], flags=re.DOTALL)
        out = out.replace("->", " returns ")
        while "operator" not in out and (shorter := re.sub(r"<[^<>]*>", "¤", out)) != out:
            out = shorter
        return " ".join(out.split())

    @staticmethod
    def _kind(head, opened, scope):
        """The kind of a declaration, and the name that needs a comment, if any. `opened`: a brace follows the head."""
        function = FUNCTION.search(head)
        if function and "=" in head[:function.start()].replace("operator", ""):
            function = None  # a variable that a function initialises
        if opened and not function and re.match(r"(inline )?namespace\b|extern$", head):
            return "namespace", None
        if opened and (found := TYPE.match(head)):
            return found[1], found[2]
        if opened and (UNFINISHED.search(head) or not (function or "operator" in head)):
            return "unfinished", None
        if found := CONCEPT.match(head):
            return "concept", found[1]
        if not function or NEEDS_NONE.search(head) or (head.startswith("friend") and not opened):
            return "other", None
        is_constructor = function[1].strip("~") == scope.split("::")[-1]
        has_result_type = NO_RESULT_TYPE.sub("", head[:function.start()])  # else: a deduction guide or a macro
        return "function", function[1] if has_result_type and ":" not in function[1] and not is_constructor else None

    def _scan(self, begin, end, scope, public, in_class=False):
        start = at = begin
        shared_at = None  # where a declaration begins that shares the comment of the one before it
        while match := STOP.search(self.code, at, end):
            if match[1]:
                at = match.end()
                if not self.code[start:match.start()].strip():
                    public, start = match[1] == "public", at
                continue
            inside = match.end()
            at = inside if match[0] == ";" else self.closing.get(match.start(), end) + 1
            if match[0] == "(":
                continue
            head = self._flat(start, match.start())
            kind, name = self._kind(head, match[0] == "{", scope)
            if kind == "unfinished":
                continue
            begins = start + len(self.code[start:at]) - len(self.code[start:at].lstrip())
            lines = [self.file.line(p) for p in (begins, match.start(), at - 1)]
            start = at
            if kind == "namespace":
                if not HIDDEN_NAMESPACE.search(head):
                    self._scan(inside, at - 1, f"{scope}::{head.split()[-1]}", public=True)
                continue
            if kind not in ("function", "other"):
                self._take_type(kind, name, lines[0], in_class)
                if kind in ("class", "struct", "union") and public and name and not self.file.path.endswith(".h"):
                    self._scan(inside, at - 1, f"{scope}::{name}", public=kind != "class", in_class=True)
                name = None if in_class else name
            shared_at = self._check(name if public else None, *lines, scope, shared_at)

    def _take_type(self, kind, name, line, in_class):
        if not name and kind == "enum":
            self.anonymous_enums.append(line)
        elif name and not in_class:
            self.types.append((name, line))

    def _check(self, name, first, head, last, scope, shared_at):
        """Notes a declaration without a comment. Returns the line at which the next one would share its comment."""
        above = first - 1
        while above in self.passed_over:
            above -= 1
        is_short = last in (first, head)  # without a body of several lines
        shares = above in self.comment_ends or (shared_at == first and is_short)
        if shares or not self.comment_lines.isdisjoint((*range(first, head + 1), last)):
            self.documented.add((scope, name))
        elif name:
            self.missing.append((scope, name, first))
        return last + 1 if shares and is_short else None
