"""The same over net_tap: the node is in the clients' namespace, and the kernel has the other end of its device."""
import contextlib
import os

from harness import Node, eventually, test
from link import Http, Objects, check_fragmented_pings, link

DEVICE, NET4, NET6 = "mrtap", "198.18.79", "fd00:79:"


@contextlib.contextmanager
def tap_node(mtu=1500):
    link.up()
    node = Node(
        {
            "net.listen": [f"{NET4}.200:8080", f"[{NET6}:200]:8080"],
            "dpdk.ports": [f"net_tap0,iface={DEVICE}"],
            "dpdk.addresses": [f"{NET4}.200/24", f"{NET6}:200/64"],
            "dpdk.routes": [f"0.0.0.0/0 via {NET4}.1"],
            "dpdk.mtu": mtu,
        },
        wrapper=link.command([]),
    )
    try:
        node.start()
        eventually(lambda: DEVICE in link.run("ip", "-o", "link"), 20, "the device is there")
        eventually(lambda: "serves on" in node.logs(), 20, "the node has the device")
        # The driver took the device's link address for the port: the kernel's end needs another.
        for words in (
            f"link set {DEVICE} address 02:00:00:00:79:01",
            f"link set {DEVICE} mtu {mtu} up", f"addr add {NET4}.1/24 dev {DEVICE}", f"addr add {NET6}:1/64 dev {DEVICE} nodad",
        ):
            link.run("ip", *words.split())
        yield node.wait_ready()
        assert node.stop() == 0, node.logs()
    except AssertionError:
        print(node.logs())
        raise
    finally:
        node.cleanup()


@test(node=False)
def tap():
    """ping (with fragments), curl and objects, on both families."""
    objects = Objects(20, seed=79)
    with tap_node() as node:
        for ip, fragment in ((f"{NET4}.200", 1480), (f"{NET6}:200", 1448)):
            check_fragmented_pings(ip, fragment)
            objects.transfer((ip, 8080))
        out = os.path.join(node.dir, "out")
        link.run("curl", "-sS", "-o", out, node.url + objects.all[0][0])
        with open(out, "rb") as f:
            assert f.read() == objects.all[0][1]
        with Http(node.addr) as c:
            assert c.ask("GET", "/healthz")[0] == 200
