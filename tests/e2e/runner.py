"""Runs registered tests one after the other, on a shared node where they agree about its settings."""
import time
import traceback

import harness


class Shared:
    """The node the last test used; kept while the next test wants the same settings."""

    def __init__(self):
        self.node = None
        self.sets = None
        self.pids = None

    def get(self, test):
        if test.fresh or self.node is None or self.sets != test.sets or not self.node.is_up():
            self.drop()
            self.sets = test.sets
            self.node = harness.Node(test.sets)
            self.node.start().wait_ready()
            self.pids = self.node.pids()
        return self.node

    def check_alive(self):
        """Whatever a test on a shared node sent, both processes must have survived it."""
        now = self.node.pids()
        assert now == self.pids, f"a process died: {self.pids} -> {now}\n{self.node.logs()}"

    def drop(self):
        """Ends the node, which must drain well and have nothing to complain about."""
        node, self.node = self.node, None
        if node is None:
            return
        try:
            if node.is_up():
                code = node.stop()
                assert code == 0, f"drained with exit code {code}:\n{node.logs()}"
            assert not node.complaints(), f"in the log: {node.complaints()}\n{node.logs()}"
        finally:
            node.cleanup()


def run_one(test, shared, verbose):
    started = time.monotonic()
    verdict, why = "ok", ""
    try:
        if test.sets is None:
            test.run()
        else:
            node = shared.get(test)
            test.run(node)
            if test.fresh:
                shared.drop()
            else:
                shared.check_alive()
    except harness.Skip as e:
        verdict, why = "SKIP", str(e)
    except Exception as e:  # a test may fail in any way
        verdict, why = "FAIL", f"{type(e).__name__}: {e}"
        traceback.print_exc()
        if shared.node is not None and (verbose or not shared.node.is_up()):
            print(shared.node.logs())
        try:
            shared.drop()
        except AssertionError as more:
            why += f"; {more}"
    took = time.monotonic() - started
    print(f"{verdict:4} {test.name} ({took:.2f} s){': ' + why if why else ''}", flush=True)
    return verdict


def run_all(tests, verbose):
    """Runs them, prints the closing line; returns the exit code."""
    shared = Shared()
    counts = {"ok": 0, "FAIL": 0, "SKIP": 0}
    try:
        for test in tests:
            counts[run_one(test, shared, verbose)] += 1
    finally:
        try:
            shared.drop()
        except AssertionError as e:
            print(f"FAIL {e}")
            counts["FAIL"] += 1
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 1 if counts["FAIL"] or not counts["ok"] else 0
