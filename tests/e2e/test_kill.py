"""Sudden death of either process (N-3, X-18)."""
import contextlib
import json
import os
import signal
import threading
import time

from harness import comm, eventually, is_running, request, running, test
from wire import Closed


class Load:
    """Clients that keep asking on keep-alive connections and write down what happens."""

    def __init__(self, node, path, want, clients=4):
        self.node, self.path, self.want = node, path, want
        self.ok = 0
        self.failed = []
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work) for _ in range(clients)]

    def work(self):
        conn = None
        message = request("GET", self.path)
        while not self.stop.is_set():
            try:
                conn = conn or self.node.connect(timeout=5)
                res = conn.ask(message)
                assert res.status == 200, res
                assert res.body == self.want, "another object's bytes"
                with self.lock:
                    self.ok += 1
            except (OSError, Closed, AssertionError) as e:
                with self.lock:
                    self.failed.append((time.monotonic(), repr(e)))
                if conn:
                    conn.close()
                conn = None
                time.sleep(0.002)
        if conn:
            conn.close()

    def __enter__(self):
        for t in self.threads:
            t.start()
        eventually(lambda: self.ok > 100, 10, "load is flowing")
        return self

    def __exit__(self, *exc):
        self.stop.set()
        for t in self.threads:
            t.join(15)


DATA = os.urandom(1000)


@test(node=False)
def control_plane_dies():
    """N-3: not one request fails; the control plane returns by itself; counters go on where they were."""
    with running() as node:
        path = "/o/" + node.put(DATA)
        with Load(node, path, DATA) as load:
            before = node.metrics().sum("http_requests_total", route="/o", status="200")
            dataplane, old = node.dataplane, node.controlplane
            os.kill(old, signal.SIGKILL)
            served = load.ok
            eventually(lambda: load.ok > served + 200, 10, "requests are served without a control plane")
            eventually(lambda: node.pids().get("millrace-controlplane", old) != old, 10, "it is started again")
            eventually(lambda: node.metrics().sum("http_requests_total", route="/o", status="200") >= before, 10,
                       "metrics are back and have not gone backwards")
            eventually(lambda: node.export("/readyz")[0] == 200, 5, "ready")
            assert node.dataplane == dataplane
        assert not load.failed, load.failed[:3]
        out = node.millctl_json("status")
        assert out, out
        assert node.metrics().sum("tasks_spawned_total", kind="controlplane") >= 2
        assert node.stop() == 0, node.logs()


@test(node=False)
def data_plane_dies():
    """X-18: the exporter tells the truth meanwhile, and the node serves again within a second."""
    with running() as node:
        path = "/healthz"
        with node.connect() as c:
            body = c.ask(request("GET", path)).body
        with Load(node, path, body) as load:
            control, old = node.controlplane, node.dataplane
            truth = []
            stop = threading.Event()

            def watch():
                while not stop.wait(0.005):
                    with contextlib.suppress(OSError, ValueError):
                        status, text = node.export("/readyz", 1)
                        truth.append((status, json.loads(text)))

            watcher = threading.Thread(target=watch)
            watcher.start()
            killed = time.monotonic()
            os.kill(old, signal.SIGKILL)
            # Short tries: where nobody refuses a SYN, a lost one is sent again only after a second.
            eventually(lambda: node.http("GET", "/healthz", timeout=0.2).status == 200 and node.dataplane != old, 10,
                       "served again", step=0.005)
            took = time.monotonic() - killed
            eventually(lambda: node.export("/readyz")[0] == 200, 5, "ready again")
            stop.set()
            watcher.join()
            assert node.controlplane == control
            now = load.ok
            eventually(lambda: load.ok > now + 100, 10, "load flows again")
        assert took < 1.0, f"{took:.3f} s without service"
        assert any(status == 503 for status, _ in truth), "readiness never said no"
        assert any("dataplane" in json.dumps(r) for s, r in truth if s == 503), truth[:3]
        late = [f for f in load.failed if f[0] > killed + 1.0]
        assert not late, late[:3]
        address = node.put(DATA)
        assert node.http("GET", "/o/" + address).body == DATA
        eventually(lambda: "generation 2 is up" in json.dumps(node.millctl_json("events")), 5, "the return is an event")
        assert node.stop() == 0, node.logs()


@test(node=False)
def both_die():
    with running() as node:
        before = node.pids()
        os.kill(before["millrace-dataplane"], signal.SIGKILL)
        os.kill(before["millrace-controlplane"], signal.SIGKILL)

        def back():
            now = node.pids()
            assert all(now.get(p, before[p]) != before[p] for p in ("millrace-dataplane", "millrace-controlplane"))
            return node.http("GET", "/readyz").status == 200 and node.export("/readyz")[0] == 200

        eventually(back, 10, "both are back")
        node.put(DATA)
        assert node.stop() == 0, node.logs()


@test(node=False)
def again_and_again():
    """Several deaths in a row: back each time; the backoff grows but stays small at first."""
    with running() as node:
        for _ in range(3):
            old = node.dataplane
            os.kill(old, signal.SIGKILL)
            eventually(lambda: node.pids().get("millrace-dataplane", old) != old, 10, "started again")
            eventually(lambda: node.http("GET", "/readyz").status == 200, 10, "ready again")
        m = eventually(lambda: node.metrics(), 5, "metrics")
        assert m.sum("tasks_spawned_total", kind="dataplane") >= 4
        assert node.stop() == 0, node.logs()


@test(node=False)
def launcher_dies():
    """No child outlives its launcher, and the name can be used again."""
    with running() as node:
        pids = node.pids()
        os.kill(pids["millrace"], signal.SIGKILL)
        node.process.wait(5)
        eventually(lambda: not any(is_running(p) and comm(p) in pids for p in pids.values()), 10, "no child is left")
        node.start().wait_ready()
        assert node.stop() == 0, node.logs()


@test(node=False)
def killed_while_draining():
    """The data plane dies in the middle of a drain: the launcher ends, and does not start it again."""
    with running({"drain.deadline_ms": 5000, "http.read_timeout_ms": 60000}) as node:
        c = node.connect()
        c.send(request("POST", "/o", body=bytes(1000))[:-10])
        eventually(lambda: node.metrics().sum("inflight_requests", route="/o") >= 1, 5, "in flight")
        node.process.send_signal(signal.SIGTERM)
        eventually(lambda: node.export("/readyz")[0] == 503, 2, "draining")
        os.kill(node.dataplane, signal.SIGKILL)
        assert node.process.wait(10) != 0
