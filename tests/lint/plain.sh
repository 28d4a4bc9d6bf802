#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain.sh ROOT: counts habits of unclear English per 10,000 words in the comments of C, SQL and shell files, and in
# the documentation. A group of files fails if a habit is more frequent than its limit, or if "if" is too rare: that
# is the sign of conditions that begin with other words. Prints the lines with the most hits of a group that fails.
set -eu
cd "$1"

exec python3 - <<'PYTHON'
import os, re, sys

GROUPS = {  # a group may be absent from a tree
    "comments": ["src", "include", "tools", "migrations"],
    "tests": ["tests"],
    "docs": ["docs", "README.md", "SECURITY.md", "CONTRIBUTING.md"],
}
SKIP = re.compile(r"docs/evidence/|/build/|tests/lint/plain")
STARTS = r"(?:it|there|that|the|a|an|this|one|no|nothing|nobody|not|they|its|what|such|some|only|both|all|each|none|is|was|which|who)"
WHERE = re.compile(r"\bwhere " + STARTS + r"\b", re.I)
UNCLEAR = re.compile(r"\b(?:tells?|told|telling|stands?|nobody|somebody|whoever|(?:is|are|was|were) (?:no|none)|so many)\b", re.I)
IF = re.compile(r"\bif\b", re.I)
COMMENT = {".c": r"/\*(.*?)\*/", ".h": r"/\*(.*?)\*/", ".sql": r"--([^\n]*)", ".sh": r"^\s*#([^\n]*)"}


def lines_of(path):
    extension = os.path.splitext(path)[1]
    with open(path, errors="replace") as file:
        raw = file.read()
    if extension == ".md":
        fenced = False
        for number, line in enumerate(raw.split("\n"), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, re.sub(r"`[^`]*`", "X", line)
        return
    flags = re.S if extension in (".c", ".h") else re.M
    for match in re.finditer(COMMENT[extension], raw, flags):
        first = raw.count("\n", 0, match.start()) + 1
        for offset, line in enumerate(match.group(1).split("\n")):
            yield first + offset, line.strip(" *")


def files_of(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, _, names in os.walk(place):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.splitext(name)[1] in {*COMMENT, ".md"} and not SKIP.search(path):
                    yield path


violations = files = 0
for group, places in GROUPS.items():
    words = where = unclear = conditions = 0
    worst = []
    for path in files_of(places):
        files += 1
        for number, text in lines_of(path):
            words += len(text.split())
            conditions += len(IF.findall(text))
            hits = len(WHERE.findall(text)), len(UNCLEAR.findall(text))
            where += hits[0]
            unclear += hits[1]
            if sum(hits):
                worst.append((-sum(hits), path, number, text.strip()))
    rate = 10000 / max(words, 1)
    if words < 100:  # too few to judge
        if worst:
            violations += 1
    elif where * rate > 10 or unclear * rate > 15 or conditions * rate < 30:
        violations += 1
    else:
        worst = []
    for _, path, number, text in sorted(worst)[:20]:
        print(f"{path}:{number}: {text[:140]}")
    print(f"{group}: {words} words; per 10,000: where for if {where * rate:.1f} (10), "
          f"told, stands, nobody .. {unclear * rate:.1f} (15), if {conditions * rate:.1f} (30)")
print(f"plain: {files} files, {violations} violations")
sys.exit(violations > 0 or files == 0)
PYTHON
