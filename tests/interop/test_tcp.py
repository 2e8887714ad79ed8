"""TCP against the kernel's: how connections end, stop and go on, and what was agreed at their start."""
import itertools
import os
import socket
import struct
import time

from harness import eventually, request, test
from link import (
    NEAR4, RING_JUMBO, TCPI_SACK, TCPI_TIMESTAMPS, TCPI_WSCALE, Http, Objects, addr6, link,
)

DATA = os.urandom(1 << 20)
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def read_all(sock):
    out = bytearray()
    while piece := sock.recv(1 << 18):
        out += piece
    return bytes(out)


def addrs(node):
    return node.addr, addr6(node)


def open_conns(node):
    return node.metrics().sum("connections_open")


@test()
def half_close_by_client(node):
    """FIN right behind the request: the whole answer still comes, then the node's FIN."""
    path = "/o/" + node.put(DATA)
    for addr in addrs(node):
        with link.connect(addr) as s:
            s.sendall(request("GET", path))
            s.shutdown(socket.SHUT_WR)
            head, body = read_all(s).split(b"\r\n\r\n", 1)
            assert head.startswith(b"HTTP/1.1 200") and body == DATA, head


@test()
def half_close_by_client_after_upload(node):
    for addr in addrs(node):
        with link.connect(addr) as s:
            s.sendall(request("POST", "/o", body=DATA))
            s.shutdown(socket.SHUT_WR)
            assert read_all(s).startswith(b"HTTP/1.1 20")


@test()
def half_close_by_node(node):
    """The node ends its side first; the client sees the end of the stream, not a reset, and ends its own later."""
    path = "/o/" + node.put(DATA)
    for addr in addrs(node):
        with link.connect(addr) as s:
            s.sendall(request("GET", path, [("Connection", "close")]))
            assert read_all(s).endswith(DATA)
            assert s.recv(1) == b""
            s.shutdown(socket.SHUT_WR)
            assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    eventually(lambda: open_conns(node) == 0, 10, "no connection is left")


@test()
def reset_mid_download(node):
    """The client resets in the middle of an answer: the node forgets the connection and nothing else."""
    path = "/o/" + node.put(DATA)
    for addr in addrs(node):
        for _ in range(10):
            s = link.connect(addr, rcvbuf=65536)
            s.sendall(request("GET", path))
            assert s.recv(20000)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            s.close()
    eventually(lambda: open_conns(node) == 0, 10, "no connection is left")
    eventually(lambda: node.metrics().sum("inflight_requests") == 0, 10, "no request is left")
    with Http(node.addr) as c:
        c.same(path, DATA)


@test()
def reset_mid_upload(node):
    for addr in addrs(node):
        for _ in range(10):
            s = link.connect(addr)
            s.sendall(request("POST", "/o", body=DATA)[: len(DATA) // 2])
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            s.close()
    eventually(lambda: open_conns(node) == 0, 10, "no connection is left")
    with Http(node.addr) as c:
        c.put("/o/" + node.put(DATA[::-1]), DATA[::-1])


@test()
def zero_window(node):
    """A client that stops reading until its window is shut, stays silent through probes, and resumes."""
    path = "/o/" + node.put(DATA)
    for addr in addrs(node):
        with link.connect(addr, rcvbuf=8192) as s:
            s.sendall(request("GET", path))
            time.sleep(20 if link.is_long else 1.5)  # the silence is what is tested: probes pass meanwhile
            started = time.monotonic()
            got = bytearray()
            while not got.endswith(DATA[-64:]):
                piece = s.recv(4096)
                assert piece, len(got)
                got += piece
            assert bytes(got).endswith(DATA)
            assert time.monotonic() - started < 25, "resumed, but crawls"


@test()
def zero_window_many_times(node):
    """A slow reader: the window shuts and opens again and again."""
    path = "/o/" + node.put(DATA)
    with link.connect(node.addr, rcvbuf=16384) as s:
        s.sendall(request("GET", path, [("Connection", "close")]))
        got = bytearray()
        while piece := s.recv(32768):
            got += piece
            time.sleep(0.002)  # the client's slowness
        assert bytes(got).endswith(DATA)


@test()
def small_mss(node):
    """A client that takes 536 bytes a segment, and one that takes 88."""
    objects = Objects(4, seed=536)
    for addr in addrs(node):
        for mss in (536, 88):
            objects.transfer(addr, conns=2, mss=mss)
            with Http(addr, mss=mss) as c:
                c.same(*objects.all[0])
                _, snd, rcv = c.info()
                assert snd <= mss and rcv <= mss, (snd, rcv)


@test(sets={
    "dpdk.mtu": 9000, "dpdk.ports": [f"net_af_packet0,iface={link.port},{RING_JUMBO}"],
})
def mtu_9000(node):
    """Jumbo frames: segments of nearly 9000 bytes both ways."""
    link.mtu(9000)
    try:
        objects = Objects(20, seed=9000)
        for addr in addrs(node):
            objects.transfer(addr)
            with Http(addr) as c:
                c.put(*objects.all[0])
                c.same(*objects.all[0])
                _, snd, rcv = c.info()
                assert snd > 8800 and rcv > 8800, (snd, rcv)
    finally:
        link.mtu(1500)


@test()
def options_on_and_off(node):
    """Timestamps, SACK and window scaling, each on and off at the client: agreed upon, and all bytes arrive, also
    when one packet in a hundred is lost."""
    objects = Objects(2, seed=8)
    names = ("tcp_timestamps", "tcp_sack", "tcp_window_scaling")
    bits = (TCPI_TIMESTAMPS, TCPI_SACK, TCPI_WSCALE)
    with link.loss(1):
        try:
            for values in itertools.product((0, 1), repeat=3):
                link.sysctl(*(f"net.ipv4.{n}={v}" for n, v in zip(names, values)))
                for addr in addrs(node):
                    objects.transfer(addr, conns=1)
                with Http(node.addr) as c:
                    agreed = c.info()[0] & sum(bits)
                assert agreed == sum(b * v for b, v in zip(bits, values)), (values, agreed)
        finally:
            link.sysctl(*(f"net.ipv4.{n}=1" for n in names))


def short_connections(node, count):
    for _ in range(count):
        assert node.http("GET", "/healthz").status == 200


@test()
def short_connections_reuse_ports(node):
    """The node closes first and keeps TIME_WAIT; the client comes again from the same few ports, with and without
    timestamps."""
    link.sysctl("net.ipv4.ip_local_port_range=20000 20031")
    try:
        for timestamps in (1, 0):
            link.sysctl(f"net.ipv4.tcp_timestamps={timestamps}")
            short_connections(node, 20000 if link.is_long else 1000)
    finally:
        link.sysctl("net.ipv4.ip_local_port_range=32768 60999", "net.ipv4.tcp_timestamps=1")
    eventually(lambda: open_conns(node) == 0, 10, "no connection is left")


@test()
def clients_close_first(node):
    """TIME_WAIT at the kernel's side; the node frees its connections at once."""
    for _ in range(500):
        with node.connect() as c:
            assert c.ask(request("GET", "/healthz")).status == 200
    eventually(lambda: open_conns(node) == 0, 10, "no connection is left")


@test()
def path_mtu(node):
    """A narrower link behind the router: its ICMP errors make the node send smaller segments."""
    objects = Objects(4, seed=1280)
    with link.narrow(1280):
        for addr in addrs(node):
            objects.transfer(addr, conns=2)
            with Http(addr) as c:
                c.same(*objects.all[0])
                assert c.info()[2] <= 1280 - 40, c.info()


@test()
def link_down_and_up(node):
    """The cable is pulled in the middle of downloads, and put back."""
    path = "/o/" + node.put(DATA)
    with link.connect(node.addr, rcvbuf=65536) as s:
        s.sendall(request("GET", path, [("Connection", "close")]))
        got = s.recv(10000)
        link.run("ip", "link", "set", link.near, "down")
        time.sleep(0.3)  # the outage
        link.run("ip", "link", "set", link.near, "up")
        link.restore_near()
        assert (got + read_all(s)).endswith(DATA)
    assert NEAR4 in node.addr[0]
