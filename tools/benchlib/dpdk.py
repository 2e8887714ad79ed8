"""The dpdk back end over memif: the node on one CPU, millload on the other; the limit is what testpmd does there."""
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from benchlib import peers, report
from benchlib.host import pss_kib
from harness import BUILD, Node, b3, eventually

IDLE_CONNS = 1000000
# A client address has 28232 ports for each address of the node: 16 of one and 4 of the other hold a million and more.
CLIENT_ADDRESSES, NODE_PORTS = 16, 4
FRAME_BYTES = 1514
MILLLOAD = os.path.join(BUILD, "tools/millload")


class Missing(Exception):
    """Why a number cannot be had."""


def medium(values):
    return statistics.median(values)


# --- the raw limit: testpmd against testpmd

class Testpmd:
    """One end of a memif, forwarding on one CPU."""

    def __init__(self, cpu, role, mode, path, frame=64):
        self.prefix = f"mrb{os.getpid()}{role}"
        self.argv = [
            "stdbuf", "-oL", "dpdk-testpmd", "--lcores", f"0@({peers.SERVER_CPU},{peers.CLIENT_CPU}),1@{cpu}", "--no-huge", "--no-pci",
            "-m", "256", "--no-telemetry", "--no-shconf", "--file-prefix", self.prefix, "--log-level=error",
            "--vdev", f"net_memif0,role={role},socket={path}/raw.sock,socket-abstract=no", "--",
            "-i", "--auto-start", f"--forward-mode={mode}", f"--txpkts={frame}", "--total-num-mbufs=16384",
        ]
        env = {**os.environ, "RUNTIME_DIRECTORY": path}
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, env=env)

    def stats(self):
        """(packets/s, bits/s) received since this was asked last."""
        self.process.stdin.write("show port stats 0\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            found = re.search(r"Rx-pps:\s+(\d+)\s+Rx-bps:\s+(\d+)", line)
            if found:
                return int(found[1]), int(found[2])
        raise Missing(f"dpdk-testpmd ended: {' '.join(self.argv)}")

    def end(self):
        if self.process.poll() is None:
            with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
                self.process.communicate("quit\n", timeout=10)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def testpmd(frame, seconds):
    """Packets/s and bits/s that come back from macswap, one direction."""
    path = tempfile.mkdtemp(prefix="mr-raw-")
    ends = []
    try:
        ends.append(Testpmd(peers.SERVER_CPU, "server", "macswap", path))
        eventually(lambda: os.path.exists(os.path.join(path, "raw.sock")), 10, "testpmd listens")
        ends.append(Testpmd(peers.CLIENT_CPU, "client", "flowgen", path, frame))

        def flows():
            return ends[0].stats()[0] > 0

        eventually(flows, 10, "packets flow")
        ends[0].stats()
        with contextlib.suppress(subprocess.TimeoutExpired):
            ends[1].process.wait(seconds)
        pps, bps = ends[0].stats()
        return {"pps": pps, "bps": bps, "commands": [" ".join(e.argv) for e in ends]}
    finally:
        for e in reversed(ends):
            e.end()
        shutil.rmtree(path, ignore_errors=True)


# --- the node and its client

class Pair:
    """A node on a memif, and millload at its other end."""

    runs = 0

    def __init__(self, **more):
        self.path = tempfile.mkdtemp(prefix="mr-memif-")
        self.sock = os.path.join(self.path, "sock")
        self.node = Node({
            "net.backend": "dpdk", "net.lcores": [str(peers.SERVER_CPU)], "net.poll": "busy",
            "net.listen": [f"10.9.0.1:{8080 + i}" for i in range(NODE_PORTS)], "dpdk.addresses": ["10.9.0.1/16"],
            "dpdk.ports": [f"net_memif0,role=server,socket={self.sock},socket-abstract=no"],
            "limits.conns_per_ip": 0, "storage.write_from": ["10.9.0.0/16"], "http.idle_timeout_ms": 600000,
            **{k.replace("__", "."): v for k, v in more.items()},
        }, wrapper=["taskset", "-c", str(peers.SERVER_CPU)])

    def __enter__(self):
        self.node.start()
        try:
            eventually(lambda: self.node.export("/healthz")[0] == 200 and os.path.exists(self.sock), 20, "node is up")
            self.node.pids()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.node.cleanup()
        shutil.rmtree(self.path, ignore_errors=True)

    def argv(self, *args):
        # Each run has addresses of its own: what the last one left in TIME_WAIT is no business of it.
        Pair.runs += 1
        net = f"10.9.{1 + Pair.runs % 250}"
        return [MILLLOAD, "--json", "--quiet", "--backend", "dpdk", "--lcore", str(peers.CLIENT_CPU), "--vdev",
                f"net_memif0,role=client,socket={self.sock},socket-abstract=no",
                "--address", f"{net}.2-{net}.{1 + CLIENT_ADDRESSES}/16", *args]

    def load(self, *args, timeout=120):
        """One run; a request that was not answered as expected makes it worthless."""
        out = subprocess.run(self.argv(*args), capture_output=True, text=True, timeout=timeout)
        if out.returncode != 0:
            raise Missing(f"millload {' '.join(args)}: exit code {out.returncode}: {out.stdout}{out.stderr}")
        return json.loads(out.stdout)

    def put(self, data):
        """Stores an object; gives its URLs."""
        name = b3(data)
        urls = [f"http://10.9.0.1:{8080 + i}/o/{name}" for i in range(NODE_PORTS)]
        path = os.path.join(self.path, "body")
        with open(path, "wb") as f:
            f.write(data)
        self.load("-n", "1", "-c", "1", "--method", "PUT", "--body", path, "--expect-status", "201", urls[0])
        return urls


def rate(run):
    return run["measured"]["rate"]


# --- the measurements

class Bench:
    def __init__(self, quick):
        self.quick = quick
        self.rounds, self.seconds = (1, 1) if quick else (5, 3)
        self.result = {"ratios": {}, "at_most": ["idle_conn_kib", "p99_over_p50_at_half"], "notes": {}, "extra": {},
                       "raw": {}, "commands": []}

    def span(self):
        return ["-w", "0.5", "-d", str(self.seconds)]

    def ratio(self, key, value, target, note):
        self.result["ratios"][key] = {"value": round(value, 4), "target": target}
        self.result["notes"][key] = note

    def command(self, line):
        if line not in self.result["commands"]:
            self.result["commands"].append(line)

    def against_raw(self):
        """Rounds of: the raw limit, 1 KiB, a connection per request, the raw limit in bits, 1 MiB."""
        runs = {"packets": [], "get1k": [], "per_request": [], "bits": [], "get1m": []}
        for i in range(self.rounds):
            runs["packets"].append(testpmd(64, self.seconds))
            with Pair() as pair:
                small = pair.put(os.urandom(1024))[0]
                runs["get1k"].append(pair.load("-c", "64", *self.span(), small))
                runs["per_request"].append(pair.load("-c", "64", "--per-request", *self.span(), small))
            runs["bits"].append(testpmd(FRAME_BYTES, self.seconds))
            with Pair() as pair:
                runs["get1m"].append(pair.load("-c", "16", *self.span(), pair.put(os.urandom(1 << 20))[0]))
            report.progress(f"round {i + 1} of {self.rounds}: raw {runs['packets'][-1]['pps']:.0f}/s, 1 KiB "
                            f"{rate(runs['get1k'][-1]):.0f}/s, connection per request "
                            f"{rate(runs['per_request'][-1]):.0f}/s, raw {runs['bits'][-1]['bps'] / 1e9:.2f} Gbit/s, "
                            f"1 MiB {runs['get1m'][-1]['measured']['bits_per_s'] / 1e9:.2f} Gbit/s")
        self.result["raw"]["against_raw"] = runs
        for line in runs["packets"][0]["commands"]:
            self.command(line)
        self.command(f"taskset -c {peers.SERVER_CPU} millrace --config ... (net.backend: dpdk, net.poll: busy)")
        self.command(" ".join(pair.argv("-c", "64", "URL")))
        raw_pps = [r["pps"] for r in runs["packets"]]
        note = f"medians of {self.rounds} rounds, each against the raw rate of its round"
        for key, name, target in (("get1k_vs_raw", "get1k", 0.22), ("conn_per_request_vs_raw", "per_request", 0.06)):
            self.ratio(key, medium(rate(r) / raw for r, raw in zip(runs[name], raw_pps)), target, note)
        self.ratio("get1m_vs_raw", medium(r["measured"]["bits_per_s"] / raw["bps"] for r, raw in
                                          zip(runs["get1m"], runs["bits"])), 0.7, note)
        extra = self.result["extra"]
        extra["raw packets"] = (f"{medium(raw_pps):.0f}/s", "testpmd macswap against flowgen, 64-byte frames")
        extra["raw bits"] = (f"{medium(r['bps'] for r in runs['bits']) / 1e9:.2f} Gbit/s", f"{FRAME_BYTES}-byte frames")
        for name in ("get1k", "per_request"):
            p99 = medium(r["latency_us"]["p99"] for r in runs[name])
            extra[name] = (f"{medium(map(rate, runs[name])):.0f}/s", f"64 connections, p99 {p99:.0f} us")
        bits = medium(r["measured"]["bits_per_s"] for r in runs["get1m"])
        extra["get1m"] = (f"{bits / 1e9:.2f} Gbit/s", "16 connections, payload")

    def half_load(self):
        """An open loop at half of what the same node could do just before."""
        runs = []
        with Pair() as pair:
            url = pair.put(os.urandom(1024))[0]
            for _ in range(self.rounds):
                most = rate(pair.load("-c", "64", *self.span(), url))
                runs.append(pair.load("-c", "64", "-r", str(int(most / 2)), *self.span(), url))
        self.result["raw"]["half_load"] = runs
        value = medium(r["latency_us"]["p99"] / r["latency_us"]["p50"] for r in runs)
        p50, p99 = (medium(r["latency_us"][p] for r in runs) for p in ("p50", "p99"))
        self.ratio("p99_over_p50_at_half", value, 10,
                   f"open loop, p50 {p50:.1f} us, p99 {p99:.1f} us, from the intended time; no request lost")

    def million(self):
        """64 active connections beside a million silent ones, and alone; and what the silent ones weigh."""
        rounds = 1 if self.quick else 3
        idle = IDLE_CONNS // 10 if self.quick else IDLE_CONNS
        runs = {"few": [], "many": [], "pss_kib": []}
        with Pair(net__conns_max=16) as pair:
            pair.put(os.urandom(1024))
            small = pss_kib(pair.node.dataplane)
        for i in range(rounds):
            for name, count in (("few", 0), ("many", idle)):
                with Pair(net__conns_max=idle + 1024) as pair:
                    urls = pair.put(os.urandom(1024))
                    runs[name].append(self.with_idle(pair, urls, count, runs["pss_kib"]))
            report.progress(f"round {i + 1} of {rounds}: alone {rate(runs['few'][-1]):.0f}/s, "
                            f"beside {idle} {rate(runs['many'][-1]):.0f}/s")
        self.result["raw"]["million"] = {**runs, "pss_kib_room_for_16": small, "idle": idle}
        self.ratio("million_conns_vs_few", medium(rate(m) / rate(f) for m, f in zip(runs["many"], runs["few"])), 0.9,
                   f"requests/s of 64 connections beside {idle} idle ones")
        self.ratio("idle_conn_kib", (medium(runs["pss_kib"]) - small) / idle, 1.5,
                   f"data-plane Pss, {idle} open, reservations included")

    def with_idle(self, pair, urls, count, weights):
        argv = pair.argv("-c", "64", "--idle", str(count), *self.span(), *urls)
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if count:
            with contextlib.suppress(AssertionError):
                eventually(lambda: pair.node.metrics().sum("connections_open") >= count, 100, "all are open")
            weights.append(pss_kib(pair.node.dataplane))
        text, _ = process.communicate(timeout=120)
        if process.returncode != 0:
            raise Missing(f"millload with {count} idle connections: {text}")
        return json.loads(text)

    def nginx(self):
        """nginx and its best client, over veth, against this node and its client over memif."""
        for program in ("nginx", "wrk", "ip"):
            if shutil.which(program) is None:
                raise Missing(f"{program} is not installed")
        body = os.urandom(1024)
        seconds = self.seconds
        runs = {"millrace": [], "nginx": [], "nginx nopush": []}
        with veth() as (address, inside):
            for i in range(self.rounds):
                for name, nopush in (("nginx", False), ("nginx nopush", True)):
                    with peers.nginx(body, nopush, address) as (url, command, pid):
                        runs[name].append(peers.wrk(url, seconds, pid, inside))
                        self.command(command + f", {' '.join(inside + peers.WRK)} URL")
                with Pair() as pair:
                    runs["millrace"].append(pair.load("-c", "64", *self.span(), pair.put(body)[0]))
        self.result["raw"]["nginx"] = runs
        best = max(("nginx", "nginx nopush"), key=lambda n: medium(r["rps"] for r in runs[n]))
        self.ratio("get1k_vs_nginx", medium(rate(m) / p["rps"] for m, p in zip(runs["millrace"], runs[best])), 1,
                   f"requests/s against {best} with wrk over veth, both with 64 connections; reported, no target")
        self.result["extra"][best] = (f"{medium(r['rps'] for r in runs[best]):.0f}/s", "wrk over veth")


@contextlib.contextmanager
def veth():
    """A network namespace for a kernel client; gives the address of this side and how to start programs inside."""
    name = f"mrb{os.getpid() % 100000}"
    net = f"10.98.{os.getpid() % 250}"

    def ip(*args):
        out = subprocess.run(["ip", *args], capture_output=True, text=True)
        if out.returncode != 0:
            raise Missing(f"ip {' '.join(args)}: {out.stderr.strip()}")

    try:
        ip("netns", "add", name)
        ip("link", "add", name, "type", "veth", "peer", "name", "peer0", "netns", name)
        ip("address", "add", f"{net}.1/24", "dev", name)
        ip("link", "set", name, "up")
        ip("-n", name, "address", "add", f"{net}.2/24", "dev", "peer0")
        ip("-n", name, "link", "set", "peer0", "up")
        yield f"{net}.1", ["ip", "netns", "exec", name]
    finally:
        subprocess.run(["ip", "link", "del", name], capture_output=True)
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def run(quick):
    bench = Bench(quick)
    parts = (
        (("get1k_vs_raw", "conn_per_request_vs_raw", "get1m_vs_raw"), bench.against_raw),
        (("p99_over_p50_at_half",), bench.half_load),
        (("million_conns_vs_few", "idle_conn_kib"), bench.million),
        (("get1k_vs_nginx",), bench.nginx),
    )
    why = None
    if (os.cpu_count() or 1) < 2:
        why = "server and client need a CPU each, and there is one"
    elif shutil.which("dpdk-testpmd") is None:
        why = "dpdk-testpmd is not installed (package dpdk-dev)"
    for keys, measure in parts:
        try:
            if why:
                raise Missing(why)
            measure()
        except Exception as e:  # one measurement less, not none
            for key in keys:
                report.missing(key, e)
    return bench.result
