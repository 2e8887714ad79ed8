"""Drain (X-6): readiness first, work finished, the rest cut and counted."""
import json
import re
import signal
import time

from harness import Node, b3, check_error, eventually, request, running, test, tool
from wire import Closed

DATA = bytes(range(256)) * 4096  # 1 MiB


def stuck_request(node):
    """A request under way that its client never finishes: half a body."""
    c = node.connect()
    c.send(request("POST", "/o", body=DATA)[:-10])
    eventually(lambda: node.metrics().sum("inflight_requests", route="/o") >= 1, 5, "the request is in flight")
    return c


@test(node=False)
def drain_with_work_in_flight():
    """X-6: readiness false at once, liveness 200, new requests 503 draining, the one in flight ends well, exit 0."""
    with running({"drain.deadline_ms": 5000}) as node:
        idle = node.connect()
        assert idle.ask(request("GET", "/healthz")).status == 200
        probe = node.connect()  # has begun nothing; used to ask while draining
        assert probe.ask(request("GET", "/healthz")).status == 200
        busy = stuck_request(node)
        node.process.send_signal(signal.SIGTERM)

        def not_ready():
            status, text = node.export("/readyz")
            return status == 503 and not json.loads(text)["ready"] and json.loads(text)

        ready = eventually(not_ready, 2, "readiness is false")
        assert "draining" in json.dumps(ready), ready
        assert node.export("/healthz")[0] == 200
        check_while_draining(node, probe)
        node.process.send_signal(signal.SIGTERM)  # once more: harmless
        node.process.send_signal(signal.SIGINT)
        busy.send(DATA[-10:])
        res = busy.read("POST")
        assert res.status in (200, 201) and res.closed, res
        assert node.process.wait(10) == 0, node.logs()


def check_while_draining(node, probe):
    """Idle connections may be closed; one that is served gets 503 draining and a close. New ones likewise."""
    for c in (probe, None):
        try:
            c = c or node.connect()
            res = c.ask(request("GET", "/o/" + b3(b"x")))
            check_error(res, 503, "draining")
            assert res.closed
        except (Closed, OSError):
            pass


@test(node=False)
def drain_answers_503():
    """X-6: a request that begins while the node drains, on a connection with one in flight, is told so."""
    with running() as node:
        busy = node.connect()
        # the first request is complete but for its last bytes; a second one is pipelined behind it
        message = request("POST", "/o", body=DATA)
        busy.send(message[:-10])
        eventually(lambda: node.metrics().sum("inflight_requests", route="/o") >= 1, 5, "in flight")
        node.process.send_signal(signal.SIGTERM)
        eventually(lambda: node.export("/readyz")[0] == 503, 2, "readiness is false")
        busy.send(message[-10:] + request("GET", "/o/" + b3(DATA)))
        first = busy.read("POST")
        assert first.status in (200, 201), first
        if not first.closed:
            check_error(busy.read(), 503, "draining")
        busy.expect_close()
        assert node.process.wait(10) == 0, node.logs()


@test(node=False)
def drain_deadline_cuts_the_rest():
    """X-6: what is not done by the deadline is aborted, counted, and the exit code is 1."""
    with running({"drain.deadline_ms": 1000, "http.read_timeout_ms": 60000, "http.deadline_ms": 60000}) as node:
        with stuck_request(node) as c:
            started = time.monotonic()
            node.process.send_signal(signal.SIGTERM)
            aborted = []

            def sampled():
                """tasks_aborted_total is exported until the control plane ends too."""
                try:
                    aborted.append(node.metrics().sum("tasks_aborted_total", kind="request"))
                except OSError:
                    pass
                return node.process.poll() is not None

            eventually(sampled, 10, "the node ends", step=0.005)
            took = time.monotonic() - started
            assert node.process.returncode == 1, (node.process.returncode, node.logs())
            assert 0.9 < took < 5, took
            assert max(aborted, default=0) >= 1 or "abort" in node.logs(), (aborted[-3:], node.logs())
            try:
                c.read("POST")
                raise AssertionError("an aborted request was answered")
            except Closed:
                pass


@test(node=False)
def drain_by_millctl():
    with running() as node:
        node.millctl("drain")
        assert node.process.wait(10) == 0, node.logs()


@test(node=False)
def drain_idle_is_quick():
    """Nothing in flight, many idle connections: no reason to wait for the deadline."""
    with running() as node:
        conns = [node.connect() for _ in range(50)]
        for c in conns:
            assert c.ask(request("GET", "/healthz")).status == 200
        started = time.monotonic()
        assert node.stop() == 0, node.logs()
        assert time.monotonic() - started < 4
        for c in conns:
            c.expect_close()


@test(node=False)
def drain_under_load():
    """X-6 with wrk: whatever was answered is whole; exit 0 within the deadline."""
    with running() as node:
        path = "/o/" + node.put(DATA[:1000])
        wrk = node.client_start(tool("wrk"), "-t1", "-c32", "-d6s", node.url + path)
        eventually(lambda: node.metrics().sum("http_requests_total", route="/o", status="200") > 1000, 10, "load")
        assert node.stop() == 0, node.logs()
        out = wrk.communicate(timeout=20)[0]
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
        assert "requests in" in out, out
        assert bad is None or int(bad[1]) >= 0


@test(node=False)
def restart_in_place():
    """Start, stop, start again under the same name: nothing is left that stands in the way."""
    node = Node()
    try:
        for _ in range(3):
            node.start().wait_ready()
            node.put(b"again")
            assert node.stop() == 0, node.logs()
    finally:
        node.cleanup()


@test(node=False)
def second_node_of_the_same_name():
    """A name is one node: the second is refused with a reason and the first is not disturbed."""
    with running() as node:
        second = Node()
        try:
            second.settings["node.name"] = node.name
            second.write_config()
            second.start()
            eventually(lambda: second.process.poll() is not None or node.name in second.logs() or
                       "already" in second.logs(), 10, "the second says why")
            if second.process.poll() is None:
                second.process.send_signal(signal.SIGTERM)
                second.process.wait(15)
            assert second.process.returncode != 0, second.logs()
        finally:
            second.process.kill()
            second.cleanup()
        assert node.http("GET", "/readyz").status == 200
        assert node.stop() == 0, node.logs()
