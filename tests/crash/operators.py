#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants that nobody thought of: fixed operators over every line of the code that must not be wrong, of which
a seeded sample is tried. Each has to be caught by the tests of its room; what they miss the nearest of them try
again with sanitizers.

    operators.py [--count N] [--seed N] [--skip N] [--jobs N] [--only FILE]... [--least PERCENT] [--folder DIR] [--unchecked]
    operators.py --list [--count N] [--seed N]

What one operator does in one place is a mutant: a condition is negated or joined the other way, a comparison or a sum
is off by one, a call is dropped, a constant is another one. Calls that only log are left alone. A mutant that does not
compile is none, nor is one that operators.txt calls the same program. Ends with the survivors, and fails where less
than PERCENT (95) are caught. Servers and builds lie in a folder of its own below $TMPDIR, two workers need about 5 GB."""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))

# outcome, checkpoint, version, capture
FILES = """
    src/service/bulk/outcome.c src/service/bulk/answer.c src/engine/pipeline/apply_outcome.c src/engine/core/window.c
    src/state/checkpoint.c src/document/model/version.c
    src/source/changelog/position.c src/source/cursor/cursor_position.c src/source/cursor/horizon.c src/source/cursor/dedup_cache.c
    src/source/changelog/changelog.c src/source/changelog/changelog_resnapshot.c src/source/changelog/changelog_prescan.c src/source/changelog/changelog_chunk.c
    src/source/copy/initial_load.c src/source/changelog/catalogue_check.c src/source/changelog/changelog_backup.c src/source/changelog/catalogue.c
    src/source/changelog/changelog_page.c src/source/changelog/changelog_list.c
    src/source/cursor/cursor.c src/source/cursor/cursor_page.c src/source/cursor/cursor_sql.c
""".split()

# What is tried behind the unit tests of the room, the nearest first: by the beginning of the file's path.
ENGINE = ["unit_engine_pipeline", "unit_engine_simulation"]
LOG = ("changelog copy standing rules tree ahead left mirror rewritten absent query depend readers divided "
       "subscription standby").split()
BEYOND = [
    ("src/engine/", ["integration_sync_first_load", "integration_sync_changes", "integration_sync_difficult_values"]),
    ("src/source/cursor", ["integration_source_cursor", "integration_source_cursor_condition", "integration_source_overlap",
                          "integration_sync_cursor", "integration_sync_cursor_standby", "integration_cli_check_source"]),
    ("src/source/horizon", ["integration_source_cursor", "integration_source_overlap", "integration_sync_cursor"]),
    ("src/source/seen", ["integration_source_cursor", "integration_source_overlap"]),
    ("src/source/", ["integration_source_" + name for name in LOG] +
     ["integration_sync_" + name for name in "changes first_load query lost_state".split()]),
    ("src/", ENGINE),
]
TEST_S = 100
NEAREST = 3  # of the tests with servers: so many know the most of a file

ENUMS = ["OUTCOME_DONE OUTCOME_RETRY OUTCOME_CONFLICT OUTCOME_REJECTED OUTCOME_FATAL OUTCOME_UNKNOWN",
         "ERR_TRANSIENT ERR_REJECTED ERR_CONFIG ERR_STATE ERR_INTERNAL",
         "CHANGE_UPSERT CHANGE_DELETE CHANGE_PRESCAN_DELETE CHANGE_SAFEPOINT CHANGE_PAGE CHANGE_PRESCAN_END",
         "POSITION_BLOCKS POSITION_KEYS POSITION_LOG",
         "KEY_RANGE_NULLS KEY_RANGE_FIRST KEY_RANGE_AFTER KEY_RANGE_BEYOND",
         "GENERATION_NONE GENERATION_BUILDING GENERATION_LIVE",
         "ERROR_ANY ERROR_ABSENT ERROR_PRESENT", "KIND_ANY KIND_DELETE", "true false"]
LOGS = ("log_event", "log_err")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def masked(text):
    """The code alone: what stands in comments, texts and directives is blank, every place stays where it is."""
    text = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', blank, text, flags=re.S)
    return re.sub(r"^#(?:.*\\\n)*.*$", blank, text, flags=re.M)


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    raise ValueError("no end of a parenthesis")


def negations(code):
    for m in re.finditer(r"\b(?:if|while) (\()", code):
        end = closing(code, m.start(1))
        yield m.start(1), end + 1, lambda text: "(!" + text + ")"
    for m in re.finditer(r"&&|\|\||[=!]=", code):
        other = {"&&": "||", "||": "&&", "==": "!=", "!=": "=="}[m.group(0)]
        yield m.start(), m.end(), lambda text, other=other: other


def off_by_one(code):
    for m in re.finditer(r"(?<= )[<>]=?(?= )", code):
        other = m.group(0)[0] if len(m.group(0)) > 1 else m.group(0) + "="
        yield m.start(), m.end(), lambda text, other=other: other
    for m in re.finditer(r"(?<= )[+-] 1\b", code):
        yield m.start(), m.end(), lambda text: text[0] + " 0"
    for m in re.finditer(r"\+\+|(?<!-)--(?!-)", code):
        yield m.start(), m.end(), lambda text: ""


def dropped_calls(code):
    for m in re.finditer(r"(?<=[;{}])\s*\n\s+((?:\w+ = )?)([a-z_]\w*)(\()", code):
        end = closing(code, m.start(3))
        if m.group(2) not in LOGS + ("if", "for", "while", "switch", "return", "sizeof") and code[end + 1] == ";":
            kept = m.group(1)
            if not kept or kept == "rc = ":
                yield (m.start(1), end + 1, lambda text, kept=kept: kept + "0" if kept else "(void)0")


def other_constants(code):
    code = re.sub(r"\bchar \w+\[\d+\];", blank, code)  # one byte more is the same program
    for m in re.finditer(r"(?<![\w.])(?:0|[1-9]\d*)(?![\w.])", code):
        yield m.start(), m.end(), lambda text: {"0": "1", "1": "0"}.get(text, str(int(text) + 1))
    for names in (line.split() for line in ENUMS):
        for m in re.finditer(r"\b(?:" + "|".join(names) + r")\b", code):
            yield m.start(), m.end(), lambda text, names=names: names[(names.index(text) + 1) % len(names)]


OPERATORS = {"negate": negations, "off by one": off_by_one, "drop a call": dropped_calls,
             "another constant": other_constants}


class Mutant:
    def __init__(self, path, text, operator, start, end, instead):
        self.path, self.before = path, text
        self.text = text[:start] + instead + text[end:]
        self.line = text.count("\n", 0, start) + 1
        before, after = (" ".join(part.split()) for part in (text[start:end], instead))
        self.said = f"{path}:{self.line}: {operator}: {before[:60]} -> {after[:60]}"
        line = text.splitlines()[self.line - 1]
        column = start - text.rfind("\n", 0, start) - (len(line) - len(line.lstrip()))
        self.same = f"{path} {before} -> {after} at {column}: {line.strip()}"


def same_programs():
    """What can do nothing else than the program itself, found among survivors; a reason stands above each."""
    with open(os.path.join(TOP, "tests", "crash", "operators.txt"), encoding="utf-8") as file:
        return {line.rstrip("\n") for line in file if not line.startswith("#")}


def mutants_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        text = file.read()
    code = masked(text)
    logged = [range(m.start(), closing(code, m.end() - 1)) for m in
              re.finditer(r"\b(?:" + "|".join(LOGS) + r")(\()", code)]
    for name, operator in OPERATORS.items():
        for start, end, change in operator(code):
            if not any(start in call for call in logged):
                yield Mutant(path, text, name, start, end, change(text[start:end]))


def end_session(leader):
    """Ends what the process began, also where that is a group of its own, as each test of Check is."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                pid, rest = file.read().split(" (", 1)
            if int(rest.rsplit(") ", 1)[1].split()[3]) == leader:
                os.kill(int(pid), signal.SIGKILL)
        except (OSError, ProcessLookupError):
            pass  # it is gone


# The sanitizers, and how many seeds the simulation tries: what only they see is seen early, and each of its processes
# costs them many times as much.
BUILDS = {"plain": ("", "400"), "sanitized": ("address,undefined", "100")}


class Worker:
    """A tree of its own, two builds of it, and a PostgreSQL."""

    def __init__(self, folder):
        self.tree, self.folder = os.path.join(folder, "tree"), folder
        self.state, self.log = os.path.join(folder, "servers"), os.path.join(folder, "log")
        shutil.copytree(TOP, self.tree, ignore=shutil.ignore_patterns("build", ".git"), dirs_exist_ok=True)
        compiling = os.path.join(self.tree, "cmake", "Compile.cmake")
        with open(compiling, encoding="utf-8") as file:
            flags = file.read()
        with open(compiling, "w", encoding="utf-8") as file:
            file.write(flags.replace("-Werror", ""))  # a mutant may leave something unused
        for build, (sanitizers, _) in BUILDS.items():
            self.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", os.path.join(folder, build), "-DCMAKE_BUILD_TYPE=Debug",
                      "-DROWFERRY_SANITIZE=" + sanitizers, "-DCMAKE_C_FLAGS=-O1"], 600)
        self.servers = os.path.join(self.tree, "tests", "integration", "servers")

    def environment(self, build):
        return dict(os.environ, ROWFERRY_SEEDS=BUILDS[build][1], CK_DEFAULT_TIMEOUT="30",
                    ROWFERRY_PROGRAM=os.path.join(self.folder, build, "rowferry"),
                    DEVSEARCH_PROGRAM=os.path.join(self.folder, build, "devsearch"))

    def run(self, command, seconds, environment=None):
        """Returns 0 where it succeeds; what fails or hangs is ended with all that it began."""
        with open(self.log, "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                       env=environment, start_new_session=True)
            status = -1
            try:
                status = process.wait(seconds)
            except subprocess.TimeoutExpired:
                pass
            if status != 0:
                end_session(process.pid)
                process.wait()
            return status

    def tests_of(self, path, build):
        _, room, name = path.split("/")
        own = f"unit_{room}_{name[:-2]}"
        units = [f"unit_{room}_" + os.path.basename(p)[5:-2]
                 for p in sorted(glob.glob(os.path.join(self.tree, "tests", "unit", room, "test_*.c")))]
        if room == "source" and own not in units:
            units = []  # what works with a server is known by those that have one
        units.sort(key=lambda unit: (unit != own, unit == "unit_engine_simulation"))
        beyond = next(tests for begin, tests in BEYOND if path.startswith(begin))
        near = [test for test in beyond if test.rsplit("_", 1)[1] in name]
        beyond = near + [test for test in beyond if test not in near]
        return units + (beyond if build == "plain" else beyond[:NEAREST])

    def tries(self, paths):
        """Each build with each test of it, once."""
        return dict.fromkeys((build, test) for build in BUILDS for path in paths
                             for test in self.tests_of(path, build))

    def make(self, build, test):
        programs = ["rowferry", "devsearch"] if test.startswith("integration_sync") else []
        return self.run(["ninja", "-j1", "-C", os.path.join(self.folder, build), test] + programs, 1800)

    def try_test(self, build, test):
        found = glob.glob(os.path.join(self.folder, build, "tests", "**", test), recursive=True)
        command = [found[0]]
        if test.startswith("integration"):
            command = [self.servers, "run", self.state] + command
        return self.run(command, TEST_S, self.environment(build))

    def judge(self, mutant):
        """None: it does not compile; "": it survived; else which test caught it."""
        path = os.path.join(self.tree, mutant.path)
        self.write(path, mutant.text)
        try:
            for build, test in self.tries([mutant.path]):
                if self.make(build, test) != 0:
                    return None
                status = self.try_test(build, test)
                if status not in (0, 77):
                    return test if status > 0 else test + ", which was ended"
            return ""
        finally:
            self.write(path, mutant.before)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def expect_good(self, paths):
        """Without any mutant all tests pass; returns those that do not."""
        return [f"{test} ({build})" for build, test in self.tries(paths)
                if self.make(build, test) != 0 or self.try_test(build, test) not in (0, 77)]

    def begin(self):
        return self.run([self.servers, "start", self.state], 300)

    def end(self):
        self.run([self.servers, "stop", self.state], 60)


class Sample:
    """Mutants in the order of the seed, handed out until enough of them compiled."""

    def __init__(self, mutants, count):
        self.left, self.count = iter(mutants), count
        self.lock = threading.Lock()
        self.caught, self.survivors = 0, []

    def take(self):
        with self.lock:
            return next(self.left, None) if self.caught + len(self.survivors) < self.count else None

    def note(self, mutant, by):
        with self.lock:
            if by is None or self.caught + len(self.survivors) == self.count:
                return
            self.caught += by != ""
            self.survivors += [mutant] if by == "" else []
            print(f"{'caught by ' + by if by else 'SURVIVED'}: {mutant.said}", flush=True)


def work(worker, sample):
    mutant = sample.take()
    while mutant is not None:
        sample.note(mutant, worker.judge(mutant))
        mutant = sample.take()


def try_all(folder, asked, paths, sample):
    """Returns what fails without any mutant."""
    workers = [Worker(os.path.join(folder, str(i))) for i in range(asked.jobs)]
    try:
        for worker in workers:
            if worker.begin() != 0:
                return ["the PostgreSQL of tests/integration/servers"]
        broken = [] if asked.unchecked else workers[0].expect_good(paths)
        threads = [threading.Thread(target=work, args=(worker, sample)) for worker in workers if not broken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return broken
    finally:
        for worker in workers:
            worker.end()


def main():
    parser = argparse.ArgumentParser(description="mutants by fixed operators")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="so many of the sample were tried before")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--only", action="append", metavar="FILE")
    parser.add_argument("--folder", help="keeps trees and builds there, and goes on with them")
    parser.add_argument("--unchecked", action="store_true", help="the tests are known to pass")
    parser.add_argument("--list", action="store_true", help="print the sample and try none")
    asked = parser.parse_args()
    paths = asked.only or FILES
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    random.Random(asked.seed).shuffle(mutants)
    same = same_programs()
    mutants = [mutant for mutant in mutants if mutant.same not in same][asked.skip:]
    if asked.list:
        print("\n".join(mutant.said for mutant in mutants[:asked.count]))
        return 0
    sample = Sample(mutants, asked.count)
    folder = asked.folder or tempfile.mkdtemp(prefix="rowferry-operators.")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)  # the database server has a user of its own
    try:
        broken = try_all(folder, asked, paths, sample)
    finally:
        if not asked.folder:
            shutil.rmtree(folder)
    if broken:
        print(f"operators: fails without any mutant: {', '.join(broken)}")
        return 1
    tried = sample.caught + len(sample.survivors)
    percent = 100 * sample.caught / tried if tried else 0
    for mutant in sample.survivors:
        print(f"survived: {mutant.said}")
    print(f"operators: {len(mutants)} mutants of {len(paths)} files, seed {asked.seed}: {sample.caught} of {tried} caught, "
          f"{percent:.1f} %")
    return 0 if percent >= asked.least else 1


if __name__ == "__main__":
    sys.exit(main())
