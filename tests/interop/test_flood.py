"""A SYN flood from a million addresses: connections go on, and new clients still get in (X-10)."""
import os
import threading
import time

from harness import BUILD, Conn, eventually, request, test
from link import PORT, Http, link, node_mac

SYNS = 1000000
GET = request("GET", "/healthz")


class Client(threading.Thread):
    """Asks on one connection, or on a new one each time, until told to stop."""

    def __init__(self, node, is_new):
        super().__init__(daemon=True)
        self.node, self.is_new = node, is_new
        self.stop = threading.Event()
        self.times, self.failure = [], None

    def run(self):
        try:
            conn = None if self.is_new else self.open()
            while not self.stop.is_set():
                c = conn or self.open()
                assert c.ask(GET).status == 200
                self.times.append(time.monotonic())
                if conn is None:
                    c.close()
        except Exception as e:  # told by whoever waits
            self.failure = f"{type(e).__name__}: {e}"

    def open(self):
        return Conn(link.connect(self.node.addr), 30)

    def rate(self, start, end):
        return sum(start <= t < end for t in self.times) / (end - start)


def link_address(device):
    return link.run("cat", f"/sys/class/net/{device}/address").strip()


def flood(node):
    with Http(node.addr) as c:
        c.ask("GET", "/healthz")
    out = link.run(
        os.path.join(BUILD, "tests/interop/synflood"), link.near, link_address(link.near), node_mac(), node.addr[0], str(PORT),
        str(SYNS), timeout=120,
    )
    assert int(out) == SYNS, out


def check(node):
    old, new = [Client(node, False) for _ in range(4)], [Client(node, True) for _ in range(2)]
    for c in old + new:
        c.start()
    eventually(lambda: all(len(c.times) > 100 for c in old), 10, "clients are at work")
    quiet = time.monotonic()
    time.sleep(1)  # measured
    start = time.monotonic()
    flood(node)
    end = time.monotonic()
    eventually(lambda: all(c.times and c.times[-1] > end or c.failure for c in old + new), 30, "clients go on")
    for c in old + new:
        c.stop.set()
        c.join(40)
    assert not any(c.failure for c in old + new), [c.failure for c in old + new]
    before = sum(c.rate(quiet, start) for c in old)
    during = sum(c.rate(start, end) for c in old)
    fresh = sum(start <= t < end for c in new for t in c.times)
    print(
        f"     {SYNS / (end - start):.0f} SYNs/s; established: {before:.0f} requests/s before, {during:.0f} during"
        f" ({during / before:.2f}); new connections during: {fresh}"
    )
    assert fresh > 0, "nobody got in during the flood"


@test(fresh=True)
def syn_flood(node):
    """No established connection fails, new clients connect during it and after it."""
    check(node)
    assert node.http("GET", "/healthz").status == 200
