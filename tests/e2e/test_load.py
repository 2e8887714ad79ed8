"""Ordinary load, and the commands a newcomer types."""
import os
import re
import subprocess

from harness import ROOT, eventually, test, tool

DATA = os.urandom(1024)


def wrk(node, path, *args):
    out = node.client(tool("wrk"), "-t1", "-c64", "-d2s", *args, node.url + path)
    text = out.stdout.decode()
    assert out.returncode == 0 and "requests in" in text, text
    assert "Socket errors" not in text and "Non-2xx" not in text, text
    return int(re.search(r"(\d+) requests in", text)[1])


@test()
def wrk_smoke(node):
    """64 connections, no error of any kind, and the counters agree with the client."""
    path = "/o/" + node.put(DATA)

    def count():
        return node.metrics().sum("http_requests_total", route="/o", method="GET", status="200")

    before = count()
    done = wrk(node, path)
    assert done > 1000, done
    eventually(lambda: done <= count() - before <= done + 64, 5, "counted what was answered")
    eventually(lambda: node.metrics().sum("inflight_requests") == 0, 5, "nothing in flight")


@test()
def wrk_large(node):
    wrk(node, "/o/" + node.put(os.urandom(300000)))


@test(node=False)
def up_check():
    """tools/up --check: starts, stores, reads back, drains, exits 0."""
    out = subprocess.run([os.path.join(ROOT, "tools/up"), "--check"], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stdout + out.stderr
    for word in ("ready", "stored", "read", "drained"):
        assert word in out.stdout, out.stdout
