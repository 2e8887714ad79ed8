"""The same node set up in other ways: lcores, polling, addresses, a taken port."""
import os
import re
import socket

from harness import Conn, Node, Skip, b3, check_error, eventually, free_port, request, running, test, tool

DATA = os.urandom(100000)


def check_store(node):
    address = node.put(DATA)
    assert node.http("GET", "/o/" + address).body == DATA


@test(node=False)
def two_lcores():
    """Connections spread over the lcores; an object stored through one is served by the other; the sums are right."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("one CPU only")
    with running({"net.lcores": [str(c) for c in cpus[:2]], "limits.conns_per_ip": 0}) as node:
        check_store(node)
        address = b3(DATA)
        conns = [node.connect() for _ in range(64)]
        for c in conns:
            assert c.ask(request("GET", "/o/" + address)).body == DATA
        m = eventually(lambda: (m := node.metrics()).sum("connections_open") >= 64 and m, 5, "all connections counted")
        per_lcore = {labels["lcore"]: v for labels, v in m.find("connections_open")}
        assert len(per_lcore) == 2 and all(v > 5 for v in per_lcore.values()), per_lcore
        rows = node.millctl_json("conns")
        assert all("%s:%d" % c.sock.getsockname() in str(rows) for c in conns), "millctl conns shows all of them"
        out = node.client(tool("wrk"), "-t1", "-c64", "-d1s", node.url + "/o/" + address).stdout.decode()
        assert "Socket errors" not in out and "Non-2xx" not in out and re.search(r"\d+ requests in", out), out
        for c in conns:
            c.close()
        assert node.stop() == 0, node.logs()


@test(node=False)
def busy_polling():
    with running({"net.poll": "busy"}) as node:
        check_store(node)
        assert node.stop() == 0, node.logs()


@test(node=False, only="host")
def several_addresses():
    """Each listener serves; IPv6 too, and its loopback may write."""
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        raise Skip("no IPv6 on this machine")
    ports = [free_port() for _ in range(3)]
    listen = [f"127.0.0.1:{ports[0]}", f"127.0.0.2:{ports[1]}", f"[::1]:{ports[2]}"]
    with running({"net.listen": listen}) as node:
        check_store(node)
        for family, addr in ((socket.AF_INET, ("127.0.0.2", ports[1])), (socket.AF_INET6, ("::1", ports[2]))):
            with socket.socket(family) as s:
                s.settimeout(10)
                s.connect(addr)
                c = Conn(s)
                assert c.ask(request("GET", "/o/" + b3(DATA))).body == DATA
                assert c.ask(request("POST", "/o", body=b"hello"), "POST").status in (200, 201)


@test(node=False)
def without_exporter():
    """exporter.listen empty: no exporter, everything else as ever."""
    with running({"exporter.listen": ""}) as node:
        check_store(node)
        assert node.millctl_json("status")
        assert node.stop() == 0, node.logs()


@test(node=False, only="host")
def taken_port():
    """A port that another node has is named in the log, and a first start that cannot be ends with code 3 instead of
    trying for ever; the other node is not disturbed, and its port is not shared silently."""
    with running() as node:
        second = Node({"net.listen": node.settings["net.listen"]})
        try:
            second.start()
            place = "%s:%d" % node.addr
            assert second.process.wait(10) == 3, second.logs()
            assert f"cannot listen on {place}" in second.logs(), second.logs()
            check_store(node)
        finally:
            second.cleanup()


@test(node=False)
def taken_exporter_port():
    """The exporter's port is taken: the data plane serves all the same, and the log says why there are no metrics."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        with running({"exporter.listen": f"127.0.0.1:{port}"}) as node:
            check_store(node)
            eventually(lambda: f"127.0.0.1:{port}" in node.logs(), 5, "the reason is in the log")


@test(node=False)
def uploads_that_stand_still():
    """Uploads that hold all of the slab and stop: others are told the store is full, and get in when the read timeout
    has cut the sleepers."""
    sets = {"storage.slab_bytes": 4 << 20, "http.read_timeout_ms": 3000, "limits.conns_per_ip": 0}
    with running(sets) as node:
        message = request("POST", "/o", body=bytes(1 << 20))
        sleepers = []
        for i in range(4):  # one after the other, or more than four would share the slab and be refused
            sleepers.append(node.connect())
            sleepers[i].send(message[: -(60 << 10)])
            eventually(lambda: node.metrics().sum("storage_chunks_used") == 16 * (i + 1), 10, "the blocks are taken")
        for _ in range(4):
            with node.connect() as c:
                c.send_some(message[: -(60 << 10)])
                check_error(c.read("POST"), 507, "storage_full")
        check_error(node.http("POST", "/o", body=DATA), 507, "storage_full")
        eventually(lambda: node.http("POST", "/o", body=DATA).status in (200, 201), 10, "room again")
        for c in sleepers:
            c.close()
        eventually(lambda: node.metrics().sum("inflight_requests") == 0, 10, "nothing in flight")
        eventually(lambda: node.metrics().sum("storage_chunks_used") == 2, 10, "every block came back")
