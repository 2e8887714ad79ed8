"""Adds up closing lines `N passed, M failed, K skipped`.

sum.py meson TESTLOG.json   one line per program of a meson run; a program that gave no closing line, or that
                            failed without saying so, counts as one failure
sum.py line LOG CODE        the last closing line of a log; the same rule with the exit code given
Prints one line `N M K`; failures and their output go to standard error.
"""
import json
import re
import sys

CLOSING = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped\s*$")


def closing(text):
    for line in reversed(text.splitlines()):
        found = CLOSING.search(line)
        if found:
            return [int(n) for n in found.groups()]
    return None


def judge(name, text, code):
    """The counts of one program; complains about what is wrong with it."""
    counts = closing(text)
    if counts is None:
        counts = [0, 1, 0]
        print(f"  {name}: no closing line (exit code {code})", file=sys.stderr)
    elif code != 0 and counts[1] == 0:
        counts[1] = 1
        print(f"  {name}: exit code {code}", file=sys.stderr)
    return counts


def meson(path):
    total = [0, 0, 0]
    with open(path, encoding="utf-8") as log:
        for line in log:
            run = json.loads(line)
            output = run.get("stdout", "") + "\n" + run.get("stderr", "")
            text = run.get("stderr", "") + "\n" + run.get("stdout", "")
            code = run["returncode"] if run["result"] != "TIMEOUT" else "timeout"
            counts = judge(run["name"], text, code)
            if counts[1]:
                tail = "\n".join(output.splitlines()[-60:])
                print(f"  --- {run['name']} failed:\n{tail}", file=sys.stderr)
            total = [a + b for a, b in zip(total, counts)]
    return total


def main():
    if sys.argv[1] == "meson":
        total = meson(sys.argv[2])
    else:
        with open(sys.argv[2], encoding="utf-8", errors="replace") as log:
            total = judge(sys.argv[2], log.read(), int(sys.argv[3]))
    print(*total)


main()
