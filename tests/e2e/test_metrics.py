"""The exporter: format, names, truth (X-1, X-8, X-20, N-5)."""
import json
import os
import re

import harness
from harness import BUILD, ROOT, b3, eventually, request, test, tool

GOLDEN = (
    "http_requests_total", "request_latency_seconds_bucket", "inflight_requests", "rejected_total", "queue_depth",
    "queue_dropped_total", "busy_rejections_total", "io_timeouts_total", "tasks_spawned_total", "tasks_aborted_total",
    "tasks_canceled_total", "bus_lagged_total", "backoff_retries_total", "amnesia_mode", "build_info",
    "lcore_busy_ratio", "packets_total", "drops_total",
)


@test()
def promtool_likes_it(node):
    """N-5."""
    node.put(b"a metric")
    out = node.client(tool("promtool"), "check", "metrics", input=node.metrics().text.encode())
    assert out.returncode == 0, out.stdout + out.stderr
    assert not out.stderr.strip() or out.returncode == 0, out.stderr


@test()
def golden_names(node):
    """X-20: the names are the contract; every metric of the registry is declared."""
    m = node.metrics()
    missing = [n for n in GOLDEN if n not in m.names()]
    assert not missing, missing
    with open(os.path.join(ROOT, "config/metrics.def"), encoding="utf-8") as f:
        registry = re.findall(r'^METRIC\(\w+, \w+, "(\w+)"', f.read(), re.M)
    undeclared = [n for n in registry if f"# TYPE {n} " not in m.text]
    assert not undeclared, undeclared
    assert m.sum("amnesia_mode") == 1 and m.sum("build_info") == 1
    assert m.sum("process_up") == 2 and m.sum("ready") == 1 and m.sum("degraded") == 0


@test()
def every_queue(node):
    """X-1: each queue of the registry has a depth and its capacity."""
    with open(os.path.join(ROOT, "config/queues.def"), encoding="utf-8") as f:
        registry = dict((n, int(c)) for n, c in re.findall(
            r'^QUEUE\(\w+, "([^"]+)",(?:\s*"[^"]*",){3}\s*(\d+)', f.read(), re.M))
    assert registry["storage.work"] == 512 and len(registry) >= 12
    m = node.metrics()
    for name, capacity in registry.items():
        series = m.find("queue_capacity", queue=name)
        assert series and all(v == capacity for _, v in series), (name, series)
        assert m.find("queue_depth", queue=name), name


@test()
def tcp_engine_counts(node):
    """Our own TCP tells what a kernel tells in its MIB; where the kernel's is used, the series are there and stay 0."""
    with open(os.path.join(ROOT, "config/tcp_count.def"), encoding="utf-8") as f:
        names = re.findall(r'^TCP_COUNT\(\w+, "([^"]+)"', f.read(), re.M)
    text = node.metrics().text
    for name in names:
        assert f'tcp_events_total{{lcore="0",event="{name}"}}' in text, name
    node.http("GET", "/healthz")
    if harness.backend.name != "dpdk":
        assert node.metrics().sum("tcp_events_total") == 0
        return
    for name in ("segs_in", "segs_out", "bytes_in", "bytes_out", "passive_opens", "established"):
        eventually(lambda event=name: node.metrics().sum("tcp_events_total", event=event) > 0, 5, name)
    assert node.metrics().sum("protocol_packets_total", protocol="arp", dir="rx") > 0


@test()
def counters_move(node):
    """Requests are counted by route, method and status; latency and bytes with them."""
    data = os.urandom(5000)
    address = b3(data)

    def count(method, status, route="/o"):
        return node.metrics().sum("http_requests_total", route=route, method=method, status=status)

    before = {k: count(*k) for k in (("PUT", "201"), ("GET", "200"), ("HEAD", "200"), ("GET", "404"), ("GET", "206"))}
    tx = node.metrics().sum("bytes_total", dir="tx")
    seen = node.metrics().sum("request_latency_seconds_count", route="/o")
    objects = node.metrics().sum("storage_objects")
    with node.connect() as c:
        c.ask(request("PUT", "/o/" + address, body=data), "PUT")
        for _ in range(7):
            c.ask(request("GET", "/o/" + address))
        c.ask(request("HEAD", "/o/" + address), "HEAD")
        c.ask(request("GET", "/o/" + b3(b"not there")))
        c.ask(request("GET", "/o/" + address, [("Range", "bytes=0-0")]))
    want = {("PUT", "201"): 1, ("GET", "200"): 7, ("HEAD", "200"): 1, ("GET", "404"): 1, ("GET", "206"): 1}

    def moved():
        assert {k: count(*k) - v for k, v in before.items()} == want
        m = node.metrics()
        assert m.sum("bytes_total", dir="tx") - tx >= 7 * 5000
        assert m.sum("request_latency_seconds_count", route="/o") - seen == 11
        assert m.sum("storage_objects") == objects + 1
        return m.sum("inflight_requests") == 0

    eventually(moved, 5, "the counters show eleven requests")
    other = count("GET", "404", "other")
    node.http("GET", "/elsewhere")
    eventually(lambda: count("GET", "404", "other") == other + 1, 5, "unknown paths are one label")


@test()
def histogram_is_cumulative(node):
    node.http("GET", "/healthz")
    m = node.metrics()
    for route in ("/o", "/healthz"):
        buckets = [(float(h["le"]), v) for h, v in m.find("request_latency_seconds_bucket", route=route)]
        assert buckets == sorted(buckets), route
        values = [v for _, v in buckets]
        assert values == sorted(values) and buckets[-1][0] == float("inf")
        assert values[-1] == m.sum("request_latency_seconds_count", route=route)


@test()
def health_endpoints(node):
    """X-8 on the exporter."""
    status, text = node.export("/healthz")
    assert status == 200
    status, text = node.export("/readyz")
    assert status == 200 and json.loads(text) == {"ready": True, "degraded": False, "missing": [], "reasons": []}, text
    assert node.export("/nowhere")[0] == 404


@test()
def alert_rules(node):
    out = node.client(tool("promtool"), "check", "rules", os.path.join(ROOT, "config/alerts.yml"))
    assert out.returncode == 0, out.stdout + out.stderr
    names = node.metrics().names()
    with open(os.path.join(ROOT, "config/alerts.yml"), encoding="utf-8") as f:
        exprs = re.findall(r"expr:\s*(.*)", f.read())
    assert exprs
    families = {re.sub(r"_(bucket|sum|count)$", "", n) for n in names} | names
    for expr in exprs:
        for word in re.findall(r"[a-z][a-z_]+(?=[{\[ ]|$)", re.sub(r'"[^"]*"', "", expr)):
            if word.endswith(("_total", "_seconds", "_ratio", "_depth", "_bucket")):
                assert word in families, (word, expr)


@test()
def dashboard(node):
    """The dashboard is JSON and asks for metrics that exist."""
    with open(os.path.join(ROOT, "config/grafana-dashboard.json"), encoding="utf-8") as f:
        board = json.load(f)
    names = node.metrics().names()
    exprs = [t["expr"] for p in board["panels"] for t in p.get("targets", [])]
    assert exprs
    for expr in exprs:
        words = set(re.findall(r"[a-z_]{4,}", re.sub(r'"[^"]*"|\{[^}]*\}|by *\([^)]*\)', "", expr)))
        assert words & names, expr


@test()
def versions(node):
    """All programs answer --help and --version with the same version."""
    version = node.http("GET", "/version").json()["version"]
    for path in ("tools/millrace", "tools/millctl", "dataplane/millrace-dataplane",
                 "controlplane/millrace-controlplane"):
        out = node.client(os.path.join(BUILD, path), "--version")
        assert out.returncode == 0 and version.split()[0] in out.stdout.decode(), (path, out)
        out = node.client(os.path.join(BUILD, path), "--help")
        assert out.returncode == 0 and b"--config" in out.stdout or path.endswith("millctl"), (path, out)
        out = node.client(os.path.join(BUILD, path), "--nonsense")
        assert out.returncode == 2 and out.stderr, (path, out)
