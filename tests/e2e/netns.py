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
        far = self.ns + "b"
        sh("ip", "netns", "add", self.ns)
        atexit.register(self.down)
        sh("ip", "link", "add", self.port, "type", "veth", "peer", "name", far, "netns", self.ns)
        # The kernel keeps out of the node's end: no address, no neighbour discovery.
        sh("ip", "link", "set", self.port, "addrgenmode", "none", "up")
        for words in ("link set lo up", f"link set {far} up", f"addr add {NETWORK}.{CLIENT}/24 dev {far}"):
            sh("ip", "-n", self.ns, *words.split())
        self.ns_fd = os.open(f"/run/netns/{self.ns}", os.O_RDONLY)
        self.own_fd = os.open("/proc/self/ns/net", os.O_RDONLY)
        with self.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for command in ETHTOOL_OFF:
                data = ctypes.create_string_buffer(struct.pack("II", command, 0))
                fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", far.encode(), ctypes.addressof(data)))

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
