"""The host back end: 1 KiB objects against nginx, idle connections, allocations per request."""
import contextlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

from benchlib import peers, report
from harness import BUILD, Node, eventually, request

IDLE_CONNS = 10000


def settings(**more):
    return {
        "net.lcores": [str(peers.SERVER_CPU)], "net.poll": "adaptive", "limits.conns_per_ip": 0,
        "storage.slab_bytes": 16 << 20, **{k.replace("__", "."): v for k, v in more.items()},
    }


@contextlib.contextmanager
def node(**more):
    """The whole node, both processes, on the server CPU."""
    n = Node(settings(**more), wrapper=["taskset", "-c", str(peers.SERVER_CPU)])
    try:
        yield n.start().wait_ready()
    finally:
        n.cleanup()


def get1k(quick):
    """Alternating runs of Millrace and nginx with both settings of tcp_nopush; the better nginx counts."""
    body = os.urandom(1024)
    rounds, seconds = (2, 1) if quick else (9, 2)
    runs = {"millrace": [], "nginx": [], "nginx nopush": []}
    with node() as n, peers.nginx(body, False) as plain, peers.nginx(body, True) as nopush:
        urls = {"millrace": (n.url + "/o/" + n.put(body), n.dataplane), "nginx": (plain[0], plain[2]),
                "nginx nopush": (nopush[0], nopush[2])}
        commands = ["taskset -c %d millrace --config ... (net.lcores: [%d], net.poll: adaptive)" % (
            peers.SERVER_CPU, peers.SERVER_CPU), plain[1], nopush[1], " ".join(peers.WRK) + f" -d{seconds}s URL"]
        for url, pid in urls.values():
            peers.wrk(url, 1, pid)
        for i in range(rounds):
            for name, (url, pid) in urls.items():
                runs[name].append(peers.wrk(url, seconds, pid))
            report.progress(f"round {i + 1} of {rounds}: " + ", ".join(
                f"{name} {r[-1]['rps']:.0f}/s" for name, r in runs.items()))
    return runs, commands


def pss_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return int(re.search(r"^Pss:\s+(\d+) kB", f.read(), re.M)[1])


def idle_conn_kib():
    """KiB of data-plane memory per idle connection: a node with room for them, all open and each used once, against
    a node with room for 16 and none open. So what is reserved at start counts too."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    common = {"http__idle_timeout_ms": 600000}
    with node(net__conns_max=16, **common) as n:
        n.http("GET", "/healthz")
        small = pss_kib(n.dataplane)
    conns = []
    with node(net__conns_max=IDLE_CONNS + 16, **common) as n:
        before = pss_kib(n.dataplane)
        path = "/o/" + n.put(bytes(1024))
        try:
            for i in range(IDLE_CONNS):
                c = n.connect(source=f"127.0.1.{1 + i % 250}")
                conns.append(c)
                res = c.ask(request("GET", path))
                assert res.status == 200, res
            eventually(lambda: n.metrics().sum("connections_open") >= IDLE_CONNS, 10, "all connections are open")
            after = pss_kib(n.dataplane)
        finally:
            for c in conns:
                c.close()
    raw = {"conns": IDLE_CONNS, "pss_kib_room_for_16": small, "pss_kib_none_open": before, "pss_kib_all_open": after}
    return (after - small) / IDLE_CONNS, raw


def allocations(requests_wanted):
    """Calls to the allocator by the data plane in one life, as jemalloc counted them, and the requests served."""
    n = Node(settings())
    env = {**os.environ, "MALLOC_CONF": "stats_print:true,stats_print_opts:Jgdablx"}
    work = tempfile.mkdtemp(prefix="mr-alloc-")
    started = []
    try:
        for name, e in (("controlplane", os.environ), ("dataplane", env)):
            with open(os.path.join(work, name), "wb") as log:
                program = os.path.join(BUILD, name, f"millrace-{name}")
                started.append(subprocess.Popen([program, "--config", n.config], stdout=log, stderr=log, env=e))
        n.process = started[1]
        eventually(lambda: n.http("GET", "/readyz").status == 200, 20, "ready")
        path = "/o/" + n.put(bytes(1024))
        with n.connect() as c:
            batch = request("GET", path) * 50
            for _ in range(requests_wanted // 50):
                c.send(batch)
                for _ in range(50):
                    assert c.read().status == 200
        started[1].terminate()
        started[1].wait(15)
    finally:
        for p in reversed(started):
            if p.poll() is None:
                p.terminate()
                p.wait(15)
        n.cleanup()
    with open(os.path.join(work, "dataplane"), encoding="utf-8", errors="replace") as f:
        text = f.read()
    shutil.rmtree(work)
    if '"jemalloc"' not in text:
        raise RuntimeError("jemalloc printed no statistics")
    start = text.rindex("{", 0, text.index('"jemalloc"'))
    stats, _ = json.JSONDecoder().raw_decode(text[start:])
    merged = stats["jemalloc"]["stats.arenas"]["merged"]
    return merged["small"]["nrequests"] + merged["large"]["nmalloc"]


def allocs_per_request(quick):
    few, many = (1000, 11000) if quick else (10000, 110000)
    a, b = allocations(few), allocations(many)
    return (b - a) / (many - few), {"requests": [few, many], "allocations": [a, b]}


def run(quick):
    result = {"ratios": {}, "at_most": ["idle_conn_kib"], "notes": {}, "extra": {}, "raw": {}, "commands": []}
    measure_get1k(result, quick)
    for key, measure in (("idle_conn_kib", measure_idle), ("allocs_per_request", measure_allocs)):
        try:
            measure(result, quick)
        except Exception as e:  # one measurement less, not none
            report.missing(key, e)
    return result


def measure_get1k(result, quick):
    if (os.cpu_count() or 1) < 2:
        report.missing("get1k_vs_nginx", "server and client need a CPU each, and there is one")
        return
    if shutil.which("nginx") is None or shutil.which("wrk") is None:
        report.missing("get1k_vs_nginx", "nginx or wrk is not installed")
        return
    runs, result["commands"] = get1k(quick)
    result["raw"]["get1k"] = runs
    bad = [name for name, rs in runs.items() if any(r["errors"] for r in rs)]
    if bad:
        report.missing("get1k_vs_nginx", f"wrk saw errors with {bad}")
        return
    medians = {name: statistics.median(r["rps"] for r in rs) for name, rs in runs.items()}
    best = max(("nginx", "nginx nopush"), key=medians.get)
    # neighbours in one round share whatever else the machine was doing, so they are compared with each other
    for key, peer, what in (("get1k_vs_nginx", best, f"the better nginx ({best})"),
                            ("get1k_vs_nginx_plain", "nginx", "nginx with sendfile alone, tcp_nopush off")):
        value = statistics.median(a["rps"] / b["rps"] for a, b in zip(runs["millrace"], runs[peer]))
        result["ratios"][key] = {"value": round(value, 3), "target": 1.3}
        result["notes"][key] = f"requests/s, median of {len(runs[peer])} rounds, {what}"
    for name, rps in medians.items():
        cpu, p50, p99 = (statistics.median(r[k] for r in runs[name]) for k in ("cpu_us", "p50_us", "p99_us"))
        result["extra"][f"get1k {name}"] = (
            f"{rps:.0f}/s", f"{cpu:.2f} us of server CPU a request, p50 {p50:.0f} us, p99 {p99:.0f} us")


def measure_idle(result, quick):
    value, raw = idle_conn_kib()
    result["raw"]["idle"] = raw
    result["ratios"]["idle_conn_kib"] = {"value": round(value, 3), "target": 4}
    result["notes"]["idle_conn_kib"] = f"data-plane Pss, {IDLE_CONNS} idle keep-alive connections, reservations included"


def measure_allocs(result, quick):
    value, raw = allocs_per_request(quick)
    result["raw"]["allocations"] = raw
    result["extra"]["allocs_per_request"] = (f"{value:.5f}", "jemalloc requests of the data plane, steady GET of 1 KiB")
