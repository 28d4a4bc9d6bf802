#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tests went through: coverage.py BUILD [--missing FILE]...

BUILD was configured with the preset coverage and its tests have run. Prints lines and branches of the program over
all, of devsearch, and of the modules of which every branch has to be gone (MODULES); fails where these are not, or
less than 90 % of the lines and 80 % of the branches over all. --missing says where in a file."""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
MODULES = {
    "outcome": ["src/service/bulk/outcome.c"],
    "checkpoint": ["src/state/checkpoint.c"],
    "key encoding": ["src/document/model/key.c"],
    "positions": ["src/source/changelog/position.c", "src/source/cursor/cursor_position.c"],
}
LEAST_LINES, LEAST_BRANCHES = 90, 80


class File:
    """Of each line how often it ran, of each of its branches how often it was taken; of several objects the sum."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.Counter()

    def add(self, lines):
        for line in lines:
            number = line["line_number"]
            self.lines[number] += line["count"]
            for i, branch in enumerate(line["branches"]):
                self.branches[number, i] += branch["count"]


def read(build):
    files = collections.defaultdict(File)
    for notes in sorted(glob.glob(os.path.join(build, "**", "*.dir", "**", "*.gcno"), recursive=True)):
        if "/fuzz_devsearch_support.dir/" in notes:
            continue
        told = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", notes], cwd=build,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        for text in told.stdout.splitlines():
            for file in json.loads(text)["files"]:
                path = os.path.relpath(os.path.realpath(os.path.join(build, file["file"])), TOP)
                if path.startswith(("src/", "include/", "tools/")):
                    files[path].add(file["lines"])
    return files


def share(counts):
    return (sum(1 for count in counts if count > 0), len(counts))


def percent(part):
    return 100 * part[0] / part[1] if part[1] > 0 else 100


def tell(name, files):
    lines = share([count for file in files for count in file.lines.values()])
    branches = share([count for file in files for count in file.branches.values()])
    print(f"{name:14} lines {percent(lines):5.1f} % ({lines[0]} of {lines[1]}), "
          f"branches {percent(branches):5.1f} % ({branches[0]} of {branches[1]})")
    return percent(lines), percent(branches)


def tell_missing(path, file):
    for number in sorted(file.lines):
        gone = [file.branches[key] > 0 for key in sorted(file.branches) if key[0] == number]
        if file.lines[number] == 0:
            print(f"{path}:{number}: never ran")
        elif not all(gone):
            print(f"{path}:{number}: {gone.count(False)} of {len(gone)} branches were never taken")


def main():
    parser = argparse.ArgumentParser(description="lines and branches that the tests went through")
    parser.add_argument("build")
    parser.add_argument("--missing", action="append", default=[], metavar="FILE")
    asked = parser.parse_args()
    files = read(os.path.abspath(asked.build))
    stand_in = [file for path, file in files.items() if path.startswith("tools/devsearch/")]
    lines, branches = tell("program", [file for path, file in files.items() if not path.startswith("tools/devsearch/")])
    tell("devsearch", stand_in)
    good = lines >= LEAST_LINES and branches >= LEAST_BRANCHES
    for name, paths in MODULES.items():
        good = tell(name, [files[path] for path in paths])[1] == 100 and good
        asked.missing += [path for path in paths if path not in asked.missing]
    for path in asked.missing:
        tell_missing(path, files[path])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
