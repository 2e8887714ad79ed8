"""What others see: tshark's expert on the wire, strace on the lcore."""
import os
import re
import shutil
import signal
import subprocess
import time

from harness import BUILD, Node, eventually, test, tool
from link import PORT, Objects, addr6, link, urls

CHECKSUMS = ("ip", "tcp", "udp")
BAD = (
    "_ws.malformed",
    # The kernel's are its own: it probes after 2 ms of a busy machine's silence.
    f"tcp.analysis.spurious_retransmission && tcp.srcport == {PORT}",
    "ip.checksum.status == Bad",
    "tcp.checksum.status == Bad",
    "icmp.checksum.status == Bad",
    "icmpv6.checksum.status == Bad",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.window_full && tcp.len == 0",
    "tcp.options.mss_val == 0",
)


def read_trace(trace, *args):
    options = [word for p in CHECKSUMS for word in ("-o", f"{p}.check_checksum:TRUE")]
    out = subprocess.run([tool("tshark"), "-r", trace, *options, *args], capture_output=True, text=True, check=True)
    return out.stdout


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
    finally:
        capture.send_signal(signal.SIGINT)
        said = capture.communicate(timeout=20)[1]
    lost = re.search(r"(\d+)/(\d+)", said.rsplit("dropped", 1)[-1])
    print("     capture:", " ".join(said.split()[-8:]), "lost" if lost is None else lost[0])
    kept = os.environ.get("INTEROP_TRACE")
    if kept:
        shutil.copy(trace, kept)
    expert = read_trace(trace, "-q", "-z", "expert")
    for condition in BAD:
        found = read_trace(trace, "-Y", condition)
        assert not found, f"{condition}:\n{found[:2000]}\n{expert}"
    print("\n".join("     " + line for line in expert.splitlines() if line.strip()))


def lcore_threads(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as f:
            found.append((int(task), f.read().strip()))
    return found
