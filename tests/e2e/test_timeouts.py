"""Slow and silent clients, deadlines (X-3, X-11)."""
import threading
import time

from harness import b3, check_error, eventually, request, test
from wire import Closed

FAST = {"http.read_timeout_ms": 400, "http.write_timeout_ms": 600, "http.idle_timeout_ms": 1500}


def dribble(c, data, step, stop):
    """Sends a byte at a time until told to stop."""
    for b in data:
        if stop.wait(step):
            return
        c.send_some(bytes([b]))


def read_while_dribbling(node, data):
    stop = threading.Event()
    with node.connect() as c:
        started = time.monotonic()
        t = threading.Thread(target=dribble, args=(c, data, 0.05, stop))
        t.start()
        try:
            res = c.read("POST")
            took = time.monotonic() - started
        finally:
            stop.set()
            t.join()
        c.expect_close()
        return res, took


@test(sets=FAST, asan=True)
def dribbled_head(node):
    """X-3: the clock of a request runs from its first byte; each further byte buys nothing."""
    res, took = read_while_dribbling(node, request("GET", "/healthz", [("X", "y" * 200)]))
    check_error(res, 408, "timeout_read")
    assert res.closed and 0.3 < took < 5, took
    eventually(lambda: node.metrics().sum("io_timeouts_total", op="read") >= 1, 5, "read timeout counted")


@test(sets=FAST, asan=True)
def dribbled_body(node):
    res, took = read_while_dribbling(node, request("POST", "/o", body=b"x" * 200))
    check_error(res, 408, "timeout_read")
    head = request("POST", "/o", [("Transfer-Encoding", "chunked")])
    res, took = read_while_dribbling(node, head + b"1\r\nx\r\n" * 100)
    check_error(res, 408, "timeout_read")


@test(sets=FAST, asan=True)
def stalled_body(node):
    """Half a body and then nothing: 408."""
    with node.connect() as c:
        c.send(request("POST", "/o", body=b"x" * 1000)[:-500])
        check_error(c.read("POST"), 408, "timeout_read")
        c.expect_close()


@test(sets=FAST, asan=True)
def silence_is_idle_not_slow(node):
    """A silent connection outlives the read timeout and is closed without a word at the idle timeout."""
    with node.connect() as quiet, node.connect() as used:
        assert used.ask(request("GET", "/healthz")).status == 200
        time.sleep(0.8)  # twice the read timeout: the passing of time itself is what is tested
        assert used.ask(request("GET", "/healthz")).status == 200
        quiet.expect_close(5)
        used.expect_close(5)
    eventually(lambda: node.metrics().sum("io_timeouts_total", op="idle") >= 2, 5, "idle timeouts counted")


@test(sets=FAST, asan=True)
def reader_that_stops(node):
    """A client that does not take its answer is cut at the write timeout."""
    data = bytes(range(256)) * 4096
    path = "/o/" + node.put(data)
    with node.connect(rcvbuf=4096) as c:
        c.send(request("GET", path) * 8)
        eventually(lambda: node.metrics().sum("io_timeouts_total", op="write") >= 1, 10, "write timeout counted")
        try:
            for _ in range(8):
                assert c.read().body == data
            raise AssertionError("all eight answers came")
        except Closed:
            pass


@test(asan=True)
def deadlines(node):
    """X-11: a client may ask for less time; what cannot be done in it is 504, and nonsense is refused."""
    data = b"x" * 100000
    for fields in ([("Request-Timeout", "5")], [("Request-Timeout", "0.5")], [("Deadline", "4102444800")]):
        res = node.http("PUT", "/o/" + b3(data), fields, data)
        assert res.status in (200, 201), (fields, res)
    res = node.http("PUT", "/o/" + b3(b"late"), [("Deadline", "1000000000")], b"late")
    check_error(res, 504, "timeout")
    check_error(node.http("GET", "/o/" + b3(b"late")), 404, "not_found")
    for bad in ("x", "-1", "1e3", "5 5"):
        res = node.http("POST", "/o", [("Request-Timeout", bad)], data)
        assert res.status in (200, 201, 400), res
