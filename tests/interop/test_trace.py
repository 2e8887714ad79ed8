"""What others see: tshark's expert on the wire, strace on the lcore."""
import os
import re
import signal
import subprocess
import time

from harness import BUILD, Node, b3, eventually, test, tool
from link import PORT, Objects, addr6, link, node_mac, urls

MEMIF4 = "198.18.80"
CHECKSUMS = ("ip", "tcp", "udp")
BAD = (
    "_ws.malformed",
    "tcp.analysis.spurious_retransmission",
    "ip.checksum.status == Bad",
    "tcp.checksum.status == Bad",
    "icmp.checksum.status == Bad",
    "icmpv6.checksum.status == Bad",
)


def read_trace(trace, *args):
    options = [word for p in CHECKSUMS for word in ("-o", f"{p}.check_checksum:TRUE")]
    out = subprocess.run([tool("tshark"), "-r", trace, *options, *args], capture_output=True, text=True, check=True)
    return out.stdout


def wait_still(trace):
    """Until the capture has written what it had."""
    last = 0
    while os.path.getsize(trace) != last:
        last = os.path.getsize(trace)
        time.sleep(0.5)  # longer than it keeps anything


@test()
def expert_of_a_clean_run(node):
    """Objects both ways, short connections and pings: nothing malformed, no bad sum, no needless retransmission."""
    trace = os.path.join(node.dir, "trace.pcapng")
    capture = subprocess.Popen(
        link.command([tool("dumpcap"), "-q", "-B", "256", "-i", link.near, "-w", trace]), stderr=subprocess.PIPE, text=True
    )
    try:
        eventually(lambda: os.path.exists(trace) and os.path.getsize(trace) > 0, 10, "the capture runs")
        assert node.http("GET", "/healthz").status == 200
        objects = Objects(8, seed=77)
        for addr in (node.addr, addr6(node)):
            objects.transfer(addr, conns=2)
            link.run("ping", "-c", "3", "-i", "0.01", addr[0].strip("[]"))
        for url in urls(node):
            link.run("curl", "-gsS", "-o", "/dev/null", url + "/healthz")
        for _ in range(100):
            assert node.http("GET", "/healthz").status == 200
        wait_still(trace)
    finally:
        capture.send_signal(signal.SIGINT)
        capture.communicate(timeout=20)
    expert = read_trace(trace, "-q", "-z", "expert,note")
    # What the kernel sends is its own affair: on a busy machine it probes after 2 ms of silence.
    found = read_trace(trace, "-Y", f"eth.src == {node_mac()} && ({' || '.join(BAD)})")
    assert not found, f"{found[:4000]}\n{expert}"
    print("\n".join("     " + line for line in expert.splitlines() if line.strip()))


def lcore_thread(pid):
    """The one thread that polls: under a load of its own it never sleeps."""
    def busy(task):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="ascii") as f:
            return int(f.read().rsplit(")", 1)[1].split()[11])

    tasks = os.listdir(f"/proc/{pid}/task")
    before = {t: busy(t) for t in tasks}
    time.sleep(0.5)  # measured
    return max(tasks, key=lambda t: busy(t) - before[t])


def millload(node, *args):
    return [
        os.path.join(BUILD, "tools/millload"), "--backend", "dpdk", "--address", f"{MEMIF4}.1/24", "--quiet", "--json",
        "--vdev", f"net_memif0,role=client,socket={node.dir}/memif,socket-abstract=no", *args,
    ]


@test(node=False)
def system_calls_of_a_busy_lcore():
    """Over memif, which needs none: the lcore makes no system call in seconds of steady load."""
    node = Node({
        "net.listen": [f"{MEMIF4}.200:{PORT}"],
        "net.poll": "busy",
        "dpdk.addresses": [f"{MEMIF4}.200/24"],
        "dpdk.routes": [f"0.0.0.0/0 via {MEMIF4}.1"],
    })
    node.settings["dpdk.ports"] = [f"net_memif0,role=server,socket={node.dir}/memif,socket-abstract=no"]
    node.write_config()
    data = os.urandom(1024)
    body = os.path.join(node.dir, "body")
    with open(body, "wb") as f:
        f.write(data)
    try:
        node.start()
        eventually(lambda: node.export("/readyz")[0] == 200, 20, "ready")
        node.pids()
        url = f"{node.url}/o/{b3(data)}"
        stored = subprocess.run(
            millload(node, "--method", "PUT", "--body", body, "-n", "1", "-c", "1", "--expect-status", "201", url),
            capture_output=True, text=True, timeout=60, check=False,
        )
        assert stored.returncode == 0, stored.stdout + stored.stderr
        with subprocess.Popen(
            millload(node, "-c", "64", "-d", "8", "--expect-body", body, url), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as load:
            time.sleep(1)  # it is steady after that
            thread = lcore_thread(node.dataplane)
            counted = subprocess.run(
                ["timeout", "-s", "INT", "5", tool("strace"), "-c", "-p", thread], capture_output=True, text=True, check=False
            )
            said = load.communicate(timeout=60)[0]
        assert load.returncode == 0, said
        calls = [line.split() for line in counted.stderr.splitlines() if re.match(r" *[0-9.]+ +[0-9.]+ +\d+ +\d+", line)]
        print("     calls:", sum(int(c[3]) for c in calls if c[-1] != "total"), "of thread", thread)
        assert "attached" in counted.stderr and not calls, counted.stderr
        assert node.stop() == 0, node.logs()
    except AssertionError:
        print(node.logs())
        raise
    finally:
        node.cleanup()
