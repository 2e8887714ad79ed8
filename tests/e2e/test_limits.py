"""Admission: connections, rates, queues (X-2, X-8, X-9, X-10)."""
import random
import subprocess

from harness import IS_ASAN, b3, check_error, client_ip, eventually, request, test
from wire import Closed

rng = random.Random(5)


def is_served(c):
    try:
        return c.ask(request("GET", "/healthz")).status == 200
    except (Closed, OSError):
        return False


def connect_served(node):
    """A connection that is served, or None: some back ends refuse already the handshake."""
    try:
        c = node.connect()
    except ConnectionError:
        return None
    if is_served(c):
        return c
    c.close()
    return None


@test(sets={"limits.conns_per_ip": 8}, asan=True)
def connections_per_address(node):
    """X-10: at the cap all are served, one more is refused, another address is not touched, a freed place is usable."""
    conns = [node.connect() for _ in range(8)]
    try:
        assert all(is_served(c) for c in conns)
        assert connect_served(node) is None
        with node.connect(source=client_ip(77)) as other:
            assert is_served(other)
        conns.pop().close()

        def again():
            c = connect_served(node)
            if c is not None:
                conns.append(c)
            return c is not None

        eventually(again, 5, "a freed place can be used")
        m = node.metrics()
        assert m.sum("rejected_total", reason="ip_cap") + m.sum("drops_total", reason="ip_cap") >= 1
    finally:
        for c in conns:
            c.close()


@test(sets={"net.conns_max": 16, "limits.conns_per_ip": 0}, asan=True)
def connections_per_lcore(node):
    """All slots taken: the next connection is refused, those that are there are served."""
    conns = [node.connect() for _ in range(16)]
    try:
        served = [c for c in conns if is_served(c)]
        assert len(served) >= 15, len(served)
        more = [c for c in (connect_served(node), connect_served(node)) if c is not None]
        conns += more
        assert len(more) < 2
        assert all(is_served(c) for c in served)
        m = node.metrics()
        assert m.sum("rejected_total", reason="conn_cap") + m.sum("drops_total", reason="conn_cap") >= 1
    finally:
        for c in conns:
            c.close()
    eventually(lambda: node.http("GET", "/healthz").status == 200, 5, "slots are free again")


@test(sets={"limits.ip_rate": 1, "limits.ip_burst": 5}, asan=True)
def rate_per_address(node):
    """G-3: the burst passes, then 429 quota with Retry-After; health checks are free, other addresses too."""
    with node.connect(source=client_ip(50)) as c:
        for _ in range(20):
            assert c.ask(request("GET", "/healthz")).status == 200
        statuses = [c.ask(request("GET", "/o/" + b3(b"rate"))).status for _ in range(30)]
        assert statuses[:5] == [404] * 5, statuses
        assert statuses.count(429) >= 20, statuses
        check_error(c.ask(request("GET", "/o/" + b3(b"rate"))), 429, "quota")
        for path in ("/healthz", "/readyz", "/version"):
            assert c.ask(request("GET", path)).status == 200
    assert node.http("GET", "/o/" + b3(b"rate"), source=client_ip(51)).status == 404
    m = node.metrics()
    assert m.sum("rejected_total", reason="ip_rate") + m.sum("rejected_total", reason="quota") >= 20
    assert m.sum("http_requests_total", route="/o", status="429") >= 20


@test(sets={"limits.conns_per_ip": 0, "storage.slab_bytes": 512 << 20, "http.read_timeout_ms": 60000,
            "http.deadline_ms": 60000}, fresh=True)
def full_work_queue(node):
    """X-2: more writes at once than `storage.work` holds: the rest gets 429 busy and Retry-After, none hangs, none is
    lost, and reads and health checks go on."""
    if IS_ASAN:
        return
    objects = [bytes(rng.choices(b"abcdefgh", k=1 << 20)) for _ in range(2)]
    bodies = [subprocess.run(["zstd", "-q", "-c", "-19"], input=d, capture_output=True, check=True).stdout
              for d in objects]
    for d in objects:
        node.put(d)
    conns = []
    try:
        for i in range(900):
            c = node.connect(timeout=60)
            which = i % 2
            message = request("PUT", "/o/" + b3_of(objects, which), [("Content-Encoding", "zstd")], bodies[which])
            c.send(message[:-1])
            conns.append((c, message[-1:]))
        for c, last in conns:
            c.send(last)
        assert node.http("GET", "/healthz").status == 200
        statuses = []
        for c, _ in conns:
            res = c.read("PUT")
            statuses.append(res.status)
            if res.status == 429:
                check_error(res, 429, "busy")
            else:
                assert res.status == 200, res
        busy = statuses.count(429)
        m = node.metrics()
        assert m.sum("busy_rejections_total", endpoint="/o") == busy, busy
        assert m.sum("queue_dropped_total", queue="storage.work") == busy
        assert busy > 0, "the queue never filled"
        assert node.put(b"after the storm")
    finally:
        for c, _ in conns:
            c.close()


def b3_of(objects, which, known={}):
    if which not in known:
        known[which] = b3(objects[which])
    return known[which]
