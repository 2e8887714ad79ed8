"""The tools people use, on both families: curl, wrk, ping; and what a Linux peer is told about closed ports."""
import os
import re
import socket
import struct

from harness import b3, eventually, test, tool
from link import NEAR4, PINGS, PORT, addr6, check_fragmented_pings, link, pings, urls

ETH_P_ARP = 0x0806
DATA = os.urandom(100000)


def curl(*args):
    return link.run(tool("curl"), "-gsS", "--max-time", "20", *args)


@test()
def curl_methods(node):
    """POST, PUT, GET and HEAD over IPv4 and IPv6."""
    address = b3(DATA)
    stored, got = os.path.join(node.dir, "stored"), os.path.join(node.dir, "got")
    with open(stored, "wb") as f:
        f.write(DATA)
    for url in urls(node):
        where = f"{url}/o/{address}"
        assert address in curl("--data-binary", "@" + stored, url + "/o")
        assert curl("-o", "/dev/null", "-w", "%{http_code}", "-T", stored, where) in ("200", "201")
        curl("-o", got, where)
        with open(got, "rb") as f:
            assert f.read() == DATA
        head = curl("-I", where).lower()
        assert " 200 " in head and f"content-length: {len(DATA)}" in head, head


@test()
def curl_expect_continue(node):
    """A client that waits for 100 Continue before it sends the body."""
    stored = os.path.join(node.dir, "body")
    with open(stored, "wb") as f:
        f.write(DATA)
    assert b3(DATA) in curl("-H", "Expect: 100-continue", "--data-binary", "@" + stored, urls(node)[0] + "/o")


@test()
def wrk_without_errors(node):
    """64 connections, no error of any kind."""
    path = "/o/" + node.put(DATA[:1024])
    for url in urls(node):
        text = link.run(tool("wrk"), "-t1", "-c64", "-d2s", url + path)
        assert "Socket errors" not in text and "Non-2xx" not in text, text
        done = int(re.search(r"(\d+) requests in", text)[1])
        print(f"     wrk -c64 1 KiB {url}: {done // 2} requests/s")
        assert done > 1000, text


@test()
def ping(node):
    """Echo; over IPv6 also in fragments. IPv4's are put together by af_packet itself, up to a frame of its ring."""
    for size in (0, 56, 1472, 1900):
        assert pings(node.addr[0], size) == PINGS, size
    check_fragmented_pings(addr6(node)[0].strip("[]"), 1448)
    assert node.metrics().sum("drops_total", reason="fragment") > 0


@test()
def closed_ports(node):
    """TCP is reset, UDP gets an ICMP error: both are `connection refused` at once, not a timeout."""
    for family, ip in ((socket.AF_INET, node.addr[0]), (socket.AF_INET6, addr6(node)[0].strip("[]"))):
        with link.inside():
            tcp, udp = socket.socket(family), socket.socket(family, socket.SOCK_DGRAM)
        with tcp, udp:
            tcp.settimeout(5)
            assert tcp.connect_ex((ip, PORT + 1)) == 111, ip
            udp.settimeout(5)
            udp.connect((ip, PORT + 1))
            udp.send(b"anybody there?")
            try:
                udp.recv(100)
                raise AssertionError("a datagram from a closed port")
            except ConnectionRefusedError:
                pass


def arp(operation, from_mac, from_ip, to_ip):
    """A broadcast ARP packet."""
    return struct.pack(
        "!6s6sHHHBBH6s4s6s4s", b"\xff" * 6, from_mac, ETH_P_ARP, 1, 0x0800, 6, 4, operation,
        from_mac, socket.inet_aton(from_ip), b"\0" * 6, socket.inet_aton(to_ip),
    )


def arp_from(sock, ip):
    """The link addresses that claim this address in what arrives."""
    while True:
        frame = sock.recv(2048)
        if len(frame) >= 42 and frame[28:32] == socket.inet_aton(ip):
            return frame[22:28]


@test()
def arp_conflict(node):
    """Another machine claims our address, then asks for it: we defend it each time and go on serving."""
    ip, other = node.addr[0], b"\x02\0\0\0\0\x99"
    with link.inside():
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ARP))
    with sock, node.connect() as before:
        sock.bind((link.near, ETH_P_ARP))
        sock.settimeout(5)
        sock.send(arp(1, other, "0.0.0.0", ip))  # a probe (RFC 5227)
        ours = arp_from(sock, ip)
        assert ours != other
        sock.send(arp(2, other, ip, ip))  # a claim
        assert arp_from(sock, ip) == ours
        assert before.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").status == 200
    eventually(lambda: node.http("GET", "/healthz").status == 200, 10, "served after the conflict")


@test()
def neighbour_forgotten(node):
    """The kernel forgets us and finds us again, on a connection that goes on."""
    with node.connect() as c:
        for _ in range(3):
            link.run("ip", "neigh", "flush", "dev", link.near)
            assert c.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").status == 200
    assert NEAR4 in link.run("ip", "neigh", "show", "dev", link.near)
