"""The back end of these tests: a node past the kernel, and Linux clients at one of two places.

    node: net_af_packet on mr<pid>a --- mr<pid>b, near namespace (a router) mr<pid>c --- mr<pid>d, far namespace

Near clients share a link with the node. What far clients send and receive is forwarded by the near namespace, where
packets can be lost on the way: a drop at a sender's own hook would be an error it notices, not a loss.
"""
import contextlib
import ctypes
import fcntl
import http.client
import os
import random
import re
import socket
import struct
import subprocess
import threading

import harness
from netns import ETHTOOL_OFF, SIOCETHTOOL, DpdkBackend, setns, sh

NEAR4, NEAR6 = "198.18.77", "fd00:77:"
FAR4, FAR6 = "198.18.78", "fd00:78:"
PORT = 8080
PINGS = 10
OBJECT_BYTES = 1 << 20
TCPI_TIMESTAMPS, TCPI_SACK, TCPI_WSCALE = 1, 2, 4
# The frames of a veth burst fit; the small ring of the default is the e2e suite's.
RING = "framesz=2048,framecnt=4096,blocksz=65536"
RING_JUMBO = "framesz=9088,framecnt=512,blocksz=290816"  # the driver wants blocks without a gap at their end


def without_offloads(device):
    """Sums and segments are made before the frame leaves. Call it in the device's namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command in ETHTOOL_OFF:
            data = ctypes.create_string_buffer(struct.pack("II", command, 0))
            fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", device.encode(), ctypes.addressof(data)))


class Link(DpdkBackend):
    def __init__(self):
        super().__init__()
        self.near = self.ns + "b"
        self.far_ns = self.ns + "f"
        self.router, self.far_dev = self.ns + "c", self.ns + "d"
        self.far_fd = None
        self.is_long = False
        self.is_far = False

    def up(self):
        if self.far_fd is not None:
            return
        super().up()
        sh("ip", "netns", "add", self.far_ns)
        sh("ip", "-n", self.ns, "link", "add", self.router, "type", "veth", "peer", "name", self.far_dev, "netns", self.far_ns)
        for ns, words in (
            (self.ns, f"addr add {NEAR6}:1/64 dev {self.near} nodad"),
            (self.ns, f"link set {self.router} up"),
            (self.ns, f"addr add {FAR4}.1/24 dev {self.router}"),
            (self.ns, f"addr add {FAR6}:1/64 dev {self.router} nodad"),
            (self.ns, "route add blackhole 10.0.0.0/8"),
            (self.far_ns, "link set lo up"),
            (self.far_ns, f"link set {self.far_dev} up"),
            (self.far_ns, f"addr add {FAR4}.2/24 dev {self.far_dev}"),
            (self.far_ns, f"addr add {FAR6}:2/64 dev {self.far_dev} nodad"),
            (self.far_ns, f"route add default via {FAR4}.1"),
            (self.far_ns, f"-6 route add default via {FAR6}:1"),
        ):
            sh("ip", "-n", ns, *words.split())
        self.far_fd = os.open(f"/run/netns/{self.far_ns}", os.O_RDONLY)
        with self.inside():
            without_offloads(self.router)
        with self.far(), self.inside():
            without_offloads(self.far_dev)
        self.sysctl("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")

    def down(self):
        super().down()
        subprocess.run(("ip", "netns", "del", self.far_ns), capture_output=True, check=False)

    @contextlib.contextmanager
    def far(self):
        """Clients are behind the router meanwhile."""
        self.up()
        self.is_far = True
        try:
            yield self
        finally:
            self.is_far = False

    @contextlib.contextmanager
    def inside(self):
        setns(self.far_fd if self.is_far else self.ns_fd)
        try:
            yield
        finally:
            setns(self.own_fd)

    def command(self, argv):
        self.up()
        return ["ip", "netns", "exec", self.far_ns if self.is_far else self.ns] + argv

    def run(self, *argv, check=True, timeout=60):
        out = subprocess.run(self.command(list(argv)), capture_output=True, text=True, timeout=timeout, check=False)
        assert not check or out.returncode == 0, f"{argv}: {out.returncode}\n{out.stdout}{out.stderr}"
        return out.stdout

    def sysctl(self, *pairs):
        self.run("sysctl", "-q", "-w", *pairs)

    def nft(self, text):
        subprocess.run(
            ["ip", "netns", "exec", self.ns, "nft", "-f", "-"], input=text, text=True, capture_output=True, check=True
        )

    @contextlib.contextmanager
    def loss(self, percent):
        """Far clients, and this share of all packets lost, each way."""
        with self.far():
            self.nft(
                "table inet loss {\nchain way {\ntype filter hook forward priority 0;\n"
                f"meta l4proto tcp numgen random mod 100 < {percent} counter drop\n}}\n}}\n"
            )
            try:
                yield self
            finally:
                self.nft("delete table inet loss\n")

    def mtu(self, size):
        """Of the link to the node."""
        sh("ip", "link", "set", self.port, "mtu", str(size))
        sh("ip", "-n", self.ns, "link", "set", self.near, "mtu", str(size))

    @contextlib.contextmanager
    def narrow(self, mtu):
        """Far clients, behind a way of this MTU that the router alone knows of."""
        hosts = (["-4", f"{FAR4}.2/32"], ["-6", f"{FAR6}:2/128"])
        with self.far():
            for family, host in hosts:
                sh("ip", "-n", self.ns, family, "route", "add", host, "dev", self.router, "mtu", str(mtu))
            try:
                yield self
            finally:
                for family, host in hosts:
                    sh("ip", "-n", self.ns, family, "route", "del", host)

    def restore_near(self):
        """A link that was down has lost its IPv6 address."""
        sh("ip", "-n", self.ns, "addr", "replace", f"{NEAR6}:1/64", "dev", self.near, "nodad")

    def settings(self):
        n = self.next_node
        base = super().settings()
        return {
            **base,
            "net.listen": [f"{NEAR4}.{n}:{PORT}", f"[{NEAR6}:{n}]:{PORT}"],
            "dpdk.ports": [f"net_af_packet0,iface={self.port},{RING}"],
            "dpdk.addresses": [f"{NEAR4}.{n}/24", f"{NEAR6}:{n}/64"],
            "dpdk.routes": [f"0.0.0.0/0 via {NEAR4}.1", f"::/0 via {NEAR6}:1"],
            "storage.write_from": ["198.18.0.0/15", "fd00::/16"],
            "storage.slab_bytes": 512 << 20,
            "http.read_timeout_ms": 60000,
            "http.write_timeout_ms": 60000,
            "http.deadline_ms": 60000,
        }

    def connect(self, addr, source=None, timeout=30, rcvbuf=None, mss=None):
        self.up()
        with self.inside():
            sock = socket.socket(socket.AF_INET6 if ":" in addr[0] else socket.AF_INET)
        sock.settimeout(timeout)
        try:
            if rcvbuf:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
            if mss:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
            if source:
                sock.bind((source, 0))
            sock.connect((addr[0].strip("[]"), addr[1]))
        except BaseException:
            sock.close()
            raise
        return sock


link = Link()


def node_mac():
    """Of the node's end of the link."""
    with open(f"/sys/class/net/{link.port}/address", encoding="ascii") as f:
        return f.read().strip()


def addr6(node):
    return harness.split_addr(node.settings["net.listen"][1])


def urls(node):
    return [f"http://{where}" for where in node.settings["net.listen"]]


def pings(ip, size, count=PINGS, wait_s=8):
    """How many were answered."""
    text = link.run("ping", "-c", str(count), "-i", "0.02", "-W", str(wait_s), "-s", str(size), ip, check=False)
    found = re.search(r"(\d+) packets transmitted, (\d+) received", text)
    assert found, text
    return int(found[2])


def check_fragmented_pings(ip, fragment):
    """Up to 8 fragments are put together again, and the answer comes in as many: at the bound, one past it."""
    most = 8 * fragment - 8
    for size in (fragment - 8, fragment - 7, 3000, most):
        answered = pings(ip, size)
        assert answered == PINGS, f"{ip}, {size} bytes: {answered} of {PINGS}"
    assert pings(ip, most + 1, count=1, wait_s=1) == 0, ip


class Http(http.client.HTTPConnection):
    """A keep-alive connection of a client in the namespace."""

    def __init__(self, addr, **options):
        super().__init__(addr[0].strip("[]"), addr[1], timeout=options.get("timeout", 30))
        self.addr, self.options = addr, options
        self.connect()

    def connect(self):
        self.sock = link.connect(self.addr, **self.options)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def ask(self, method, path, body=None, fields=()):
        self.request(method, path, body, dict(fields))
        res = self.getresponse()
        return res.status, res.read()

    def put(self, path, data):
        status, body = self.ask("PUT", path, data)
        assert status in (200, 201), (status, body)

    def same(self, path, data):
        status, body = self.ask("GET", path)
        assert status == 200, (status, body[:200])
        assert body == data, f"{path}: other bytes, {len(body)} of {len(data)}"

    def info(self):
        """(options, send MSS, receive MSS) as the kernel sees them."""
        raw = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return (raw[5], *struct.unpack_from("II", raw, 16))


class Objects:
    """Some objects of 1 MiB, each with its address by b3sum."""

    def __init__(self, count, seed, size=OBJECT_BYTES):
        rng = random.Random(seed)
        self.all = []
        for _ in range(count):
            data = rng.randbytes(size)
            self.all.append(("/o/" + harness.b3(data), data))

    def transfer(self, addr, conns=4, put=True, get=True, **options):
        """Stores and reads back everything over a few keep-alive connections; every byte must be right."""
        failures = []

        def work(share):
            try:
                with Http(addr, **options) as c:
                    for path, data in share if put else ():
                        c.put(path, data)
                    for path, data in share if get else ():
                        c.same(path, data)
            except Exception as e:  # told by the thread that waits
                failures.append(f"{type(e).__name__}: {e}")

        threads = [threading.Thread(target=work, args=(self.all[i::conns],)) for i in range(conns)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures, failures
