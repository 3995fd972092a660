#!/usr/bin/env python3
"""Compiles the complete examples of the READMEs: each ```cpp or ```c block with a main(), for its
syntax. Also reads each ```python block.

    readme_examples.py README... -- COMPILER OPTIONS...

An error names the README and the line in it. Blocks without a main() are fragments, and are not compiled. Without any complete
example the check fails.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(cpp|c|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples_in(readme):
    """(first line, language, text) of each complete example."""
    text = readme.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        if block[1] == "python" or re.search(r"^int main\(", block[2], re.MULTILINE):
            yield text[:block.start(2)].count("\n") + 1, block[1], block[2]


def mistakes_in(readme, line, language, text, compiler):
    """What the compiler says about one example; nothing if it is right."""
    if language == "python":
        try:
            compile("\n" * (line - 1) + text, readme, "exec")
            return ""
        except SyntaxError as error:
            return f"{readme}:{error.lineno}: {error.msg}\n"
    if language == "c":
        compiler = [option for option in compiler if not option.startswith("-std=")] + ["-std=c99"]
    source = f'#line {line} "{readme}"\n{text}'
    result = subprocess.run([*compiler, "-fsyntax-only", "-x", {"c": "c", "cpp": "c++"}[language], "-"], input=source, text=True, stderr=subprocess.PIPE, check=False)
    return result.stderr if result.returncode != 0 else ""


def main():
    split = sys.argv.index("--")
    readmes, compiler = map(pathlib.Path, sys.argv[1:split]), sys.argv[split + 1:]
    jobs = [(readme, *example) for readme in readmes for example in examples_in(readme)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        mistakes = list(filter(None, pool.map(lambda job: mistakes_in(*job, compiler), jobs)))
    print("".join(mistakes), end="")
    print(f"{len(jobs)} examples, {len(mistakes)} broken")
    return 1 if mistakes or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
