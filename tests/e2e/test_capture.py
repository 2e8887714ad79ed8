"""millctl capture: pcapng of a port on the dpdk back end, a clear no on the others (N-4)."""
import json
import os
import stat
import struct
import subprocess

import harness
from harness import BUILD, eventually, request, test

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6


def blocks(data):
    """(type, body) of each block of a pcapng file; any byte out of place fails."""
    at, found = 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and at + length <= len(data), (at, length)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        found.append((kind, data[at + 8:at + length - 4]))
        at += length
    return found


class Packet:
    def __init__(self, body):
        self.iface, high, low, kept, self.length = struct.unpack_from("<IIIII", body)
        self.time_ns = high << 32 | low
        self.frame = body[20:20 + kept]
        options, self.direction = body[20 + (kept + 3) // 4 * 4:], 0
        while len(options) >= 4:
            code, size = struct.unpack_from("<HH", options)
            if code == 2:
                self.direction = struct.unpack_from("<I", options, 4)[0]
            options = options[4 + (size + 3) // 4 * 4:]

    @property
    def ports(self):
        is_tcp = self.frame[12:14] == b"\x08\x00" and self.frame[23] == 6
        return struct.unpack_from(">HH", self.frame, 14 + (self.frame[14] & 15) * 4) if is_tcp else ()


def packets(path):
    with open(path, "rb") as f:
        found = blocks(f.read())
    assert found[0][0] == SECTION and found[1][0] == INTERFACE, [k for k, _ in found]
    return [Packet(body) for kind, body in found if kind == PACKET], [b for k, b in found if k == STATISTICS]


class Capture:
    """A millctl capture under way."""

    def __init__(self, node, path, *args):
        self.path = path
        argv = [os.path.join(BUILD, "tools/millctl"), "--config", node.config, "capture", "0", path, "--json", *args]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually(lambda: os.path.exists(path) and os.path.getsize(path) or self.process.poll() is not None, 5,
                   "the capture has begun")

    def end(self):
        out, err = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, (out, err)
        return json.loads(out)


def refused_on_host(node):
    """True when the node has no port; then millctl says so, and leaves no file."""
    if harness.backend.name == "dpdk":
        return False
    path = os.path.join(node.dir, "none.pcapng")
    out = node.millctl("capture", "all", path, check=4)
    assert "no port to capture" in out.stderr and "tcpdump" in out.stderr, out
    assert not os.path.exists(path)
    out = node.millctl("capture", "0", path, "--json", check=4)
    assert json.loads(out.stdout)["error"] == "no_port", out
    return True


@test()
def sees_a_request(node):
    """A request and its answer are in the file, in order, with time and direction; tshark finds nothing wrong."""
    if refused_on_host(node):
        return
    path = os.path.join(node.dir, "web.pcapng")
    port = node.addr[1]
    capture = Capture(node, path, "--seconds", "2", "--filter", f"tcp port {port}")
    with node.connect() as c:
        mine = c.sock.getsockname()[1]
        c.ask(request("GET", "/healthz"))
    done = capture.end()
    found, statistics = packets(path)
    assert done["packets"] == len(found) and done["dropped"] == 0 and done["ended_by"] == "seconds", done
    assert len(statistics) == 1
    assert all(port in p.ports for p in found)
    ours = [p for p in found if mine in p.ports]
    assert [p.direction for p in ours[:2]] == [1, 2], "SYN in, SYN-ACK out"
    asked = next(i for i, p in enumerate(ours) if b"GET /healthz" in p.frame and p.direction == 1)
    answered = next(i for i, p in enumerate(ours) if b"200 OK" in p.frame and p.direction == 2)
    assert asked < answered
    times = [p.time_ns for p in found]
    assert times == sorted(times) and times[0] > 1_600_000_000 * 10**9
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    wrong = "_ws.malformed || tcp.analysis.retransmission || tcp.analysis.lost_segment"
    out = subprocess.run(["tshark", "-r", path, "-Y", wrong], capture_output=True, text=True)
    assert out.returncode == 0 and not out.stdout.strip(), out


@test()
def is_bounded(node):
    """So many packets, then it ends; one at a time; a filter that is wrong is refused."""
    if refused_on_host(node):
        return
    path = os.path.join(node.dir, "few.pcapng")
    capture = Capture(node, path, "--packets", "5")
    other = node.millctl("capture", "0", path + "2", check=4)
    assert "one at a time" in other.stderr, other
    with node.connect() as c:
        for _ in range(20):
            c.ask(request("GET", "/healthz"))
        done = capture.end()
    assert done["packets"] == 5 and done["ended_by"] == "packets", done
    assert len(packets(path)[0]) == 5
    for args, text in ((("9", path), "no port"), (("0", path, "--filter", "prot 80"), "prot")):
        out = node.millctl("capture", *args, check=4)
        assert text in out.stderr, out
    assert node.millctl("capture", "0", path, "--seconds", "3601", check=2).stderr
    out = node.millctl("capture", "0", "/nonexistent/x", check=2)
    assert "/nonexistent/x" in out.stderr, out


@test(fresh=True)
def ends_with_its_client(node):
    """Ctrl-C: the file is whole, the lcores copy no more, the next capture may begin; each is audited once (X-16)."""
    if refused_on_host(node):
        return
    path = os.path.join(node.dir, "cut.pcapng")
    capture = Capture(node, path, "--seconds", "600")
    with node.connect() as c:
        c.ask(request("GET", "/healthz"))
    eventually(lambda: len(packets(path)[0]) > 4, 5, "packets in the file")
    capture.process.terminate()
    capture.process.communicate(timeout=5)
    packets(path)

    def next_one():
        return node.millctl("capture", "net_af_packet0", path, "--seconds", "1", "--packets", "1",
                            check=None).returncode == 0

    eventually(next_one, 10, "another capture")
    audits = [e["text"] for e in node.millctl_json("events", "-n", "100")["events"] if e["kind"] == "audit"]
    assert sum("capture" in a and "ok" in a for a in audits) == 2, audits
