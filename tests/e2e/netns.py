"""The dpdk back end of the harness: the node on one end of a veth pair, past the kernel, the clients on the other, in a
network namespace of their own. Needs root.

    node: net_af_packet on mr<pid>a  <--- veth --->  mr<pid>b, 198.18.77.1/24, in the namespace mr<pid>: clients
"""
import atexit
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import time

NETWORK = "198.18.77"
CLIENT = 1
FIRST_NODE, LAST_NODE = 200, 250
CLONE_NEWNET = 0x40000000
SIOCETHTOOL = 0x8946
ETHTOOL_OFF = (0x17, 0x1F, 0x25)  # checksums, segmentation and its software form: a frame leaves as it will arrive
libc = ctypes.CDLL(None, use_errno=True)


def sh(*argv):
    subprocess.run(argv, check=True, capture_output=True)


def setns(fd):
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Raw:
    """A socket for whole frames."""

    def __init__(self, iface):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
        self.sock.bind((iface, 0))
        self.sock.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA: the kernel takes tags off the frames
        self.mac = self.sock.getsockname()[4]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def ask_arp(self, own, wanted, vlan, timeout=0.5):
        """The VLAN (0: none) an answer came in; None: there was none."""
        tag = struct.pack("!HH", 0x8100, vlan) if vlan is not None else b""
        body = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + self.mac + socket.inet_aton(own) + bytes(6)
        self.sock.send(b"\xff" * 6 + self.mac + tag + b"\x08\x06" + body + socket.inet_aton(wanted))
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            self.sock.settimeout(left)
            try:
                frame, notes, _, _ = self.sock.recvmsg(2048, 256)
            except TimeoutError:
                return None
            is_answer = frame[12:14] == b"\x08\x06" and frame[20:22] == b"\x00\x02"
            if is_answer and frame[28:32] == socket.inet_aton(wanted) and frame[:6] == self.mac:
                return struct.unpack("IIIHHHH", notes[0][2][:20])[5] if notes else 0
        return None


class DpdkBackend:
    name = "dpdk"

    def __init__(self):
        self.ns = f"mr{os.getpid()}"
        self.port = self.ns + "a"
        self.sources = set()
        self.next_node = FIRST_NODE
        self.ns_fd = self.own_fd = None

    def up(self):
        """Makes namespace and link, once."""
        if self.ns_fd is not None:
            return
        sh("ip", "netns", "add", self.ns)
        atexit.register(self.down)
        self.ns_fd = os.open(f"/run/netns/{self.ns}", os.O_RDONLY)
        self.own_fd = os.open("/proc/self/ns/net", os.O_RDONLY)
        sh("ip", "-n", self.ns, "link", "set", "lo", "up")
        self.plug()

    def plug(self):
        """Makes the link and its addresses."""
        far = self.ns + "b"
        sh("ip", "link", "add", self.port, "type", "veth", "peer", "name", far, "netns", self.ns)
        # The kernel keeps out of the node's end: no address, no neighbour discovery.
        sh("ip", "link", "set", self.port, "addrgenmode", "none", "up")
        self.sources = set()
        for words in (f"link set {far} up", f"addr add {NETWORK}.{CLIENT}/24 dev {far}"):
            sh("ip", "-n", self.ns, *words.split())
        with self.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for command in ETHTOOL_OFF:
                data = ctypes.create_string_buffer(struct.pack("II", command, 0))
                fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", far.encode(), ctypes.addressof(data)))

    def unplug(self):
        sh("ip", "link", "del", self.port)

    def raw(self):
        """Frames on the clients' end of the link."""
        with self.inside():
            return Raw(self.ns + "b")

    def down(self):
        for argv in (("ip", "link", "del", self.port), ("ip", "netns", "del", self.ns)):
            subprocess.run(argv, capture_output=True, check=False)

    @contextlib.contextmanager
    def inside(self):
        """What is opened here is opened in the namespace; sockets stay there."""
        self.up()
        setns(self.ns_fd)
        try:
            yield
        finally:
            setns(self.own_fd)

    def settings(self):
        """Each node has an address of its own: what is left of the last one's connections does not meet it."""
        self.up()
        ip = f"{NETWORK}.{self.next_node}"
        self.next_node = self.next_node + 1 if self.next_node < LAST_NODE else FIRST_NODE
        return {
            "net.backend": "dpdk",
            "net.listen": f"{ip}:8080",
            "dpdk.ports": [f"net_af_packet0,iface={self.port}"],
            "dpdk.addresses": [f"{ip}/24"],
            "dpdk.mbufs": 16384,
            "storage.write_from": [f"{NETWORK}.0/24"],
        }

    def client_ip(self, n):
        return f"{NETWORK}.{n}"

    def command(self, argv):
        return ["ip", "netns", "exec", self.ns] + argv

    def connect(self, addr, source=None, timeout=10, rcvbuf=None):
        if source and source not in self.sources:
            self.up()
            sh("ip", "-n", self.ns, "addr", "add", source + "/24", "dev", self.ns + "b")
            self.sources.add(source)
        with self.inside():
            sock = socket.socket()
        sock.settimeout(timeout)
        try:
            if rcvbuf:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
            sock.bind((source or f"{NETWORK}.{CLIENT}", 0))
            sock.connect(addr)
        except BaseException:
            sock.close()
            raise
        return sock
