# SPDX-License-Identifier: GPL-2.0-only
"""KTAP, the form in which KUnit tells of its cases: read every document in a
log, believe none that is not whole.

    ktap.py LOG...      print a line for each case, and the sum

A case counts as failed if it says so, if its number is not the next, or if the
document breaks off before it; a suite that fails without a failed case (its
setup did) counts as one failed case.
"""

import dataclasses
import re
import sys

# What printk puts before a line; anything may stand before that on a console.
STAMP = re.compile(r"^.*?\[ *\d+\.\d{6}\](\[ *[TC]\d+\])? ?")
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(not )?ok (\d+)(?: -)? ?([^ #]*)(?: # (SKIP)? ?(.*))?$")


@dataclasses.dataclass
class Case:
    """One case of a suite."""
    suite: str
    name: str
    outcome: str    # "passed", "failed" or "skipped"
    text: str       # why, as far as the log says


@dataclasses.dataclass
class Level:
    """A document (at no indent) or a suite in the middle of being read."""
    indent: int
    name: str = "document"
    plan: int = None
    done: int = 0
    failed: bool = False


class Reader:
    """Reads lines, collects cases."""

    def __init__(self):
        self.cases = []
        self.levels = []
        self.notes = []     # since the last result

    def add(self, level, name, outcome, text):
        """Count a case of @level."""
        level.failed |= outcome == "failed"
        self.cases.append(Case(level.name, name, outcome, text))

    def close(self, indent):
        """End the levels that are at @indent or deeper, which must have kept
        their plan. The last of them, or None."""
        level = None
        while self.levels and self.levels[-1].indent >= indent:
            level = self.levels.pop()
            if level.done != level.plan:
                self.add(level, f"case {level.done + 1}", "failed",
                         "\n".join([f"broke off after {level.done} of {level.plan}"]
                                   + self.notes[-10:]))
        return level

    def result(self, indent, match):
        """A line `ok` or `not ok`: of a case, or of the suite that it ends."""
        failed, number, name, skip, why = match.groups()
        suite = self.close(indent + 1)
        level = self.levels[-1]
        level.done += 1
        text = "\n".join(self.notes)
        if int(number) != level.done:
            self.add(level, name, "failed", f"is number {number}, want {level.done}")
        elif not suite:
            self.add(level, name, "failed" if failed else "skipped" if skip else "passed",
                     text if failed else why or "")
        elif failed and not suite.failed:
            self.add(suite, "suite", "failed", f"no case failed, but the suite did\n{text}")
        self.notes = []

    def line(self, line):
        """One line of the log, without its stamp."""
        text = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        match = RESULT.match(text)
        if text == "KTAP version 1":
            self.close(indent)
            self.levels.append(Level(indent))
            self.notes = []
        elif self.levels and PLAN.match(text) and indent == self.levels[-1].indent:
            self.levels[-1].plan = int(PLAN.match(text)[1])
        elif self.levels and text.startswith("# Subtest: "):
            self.levels[-1].name = text.removeprefix("# Subtest: ")
        elif match and self.levels and indent in [level.indent for level in self.levels]:
            self.result(indent, match)
        elif self.levels:
            self.notes.append(text)


def read(log):
    """All cases in a log: of a console (only lines with printk's stamp count,
    if there are any), or of a program's output."""
    lines = log.replace("\r", "").split("\n")
    stamped = [STAMP.sub("", line) for line in lines if STAMP.match(line)]
    reader = Reader()
    for line in stamped or lines:
        reader.line(line)
    reader.close(0)
    return reader.cases


def count(cases):
    """(passed, failed, skipped)."""
    outcomes = [case.outcome for case in cases]
    return tuple(outcomes.count(outcome) for outcome in ("passed", "failed", "skipped"))


def main():
    """What a person calls."""
    cases = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="replace") as file:
            cases += read(file.read())
    for case in cases:
        print(f"{case.outcome:8} {case.suite}.{case.name}" + (f"\n{case.text}" if case.text else ""))
    passed, failed, skipped = count(cases)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
