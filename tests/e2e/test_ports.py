"""The ports of the dpdk back end: lost, found, tagged, with a link and without (N-2)."""
import os
import subprocess

import harness
from harness import BUILD, Node, eventually, running, test, tool
from netns import sh


def dpdk_test(run):
    """Only where the node stands on a port."""
    return test(node=False)(run) if harness.backend.name == "dpdk" else run


@dpdk_test
def link_goes_down_and_up():
    """Readiness tells that the link is missing, and nothing has to be restarted when it is back."""
    with running() as node:
        pid = node.dataplane
        sh("ip", "link", "set", harness.backend.port, "down")
        eventually(lambda: node.metrics().sum("ports_up") == 0, 5, "the link is missed")
        eventually(lambda: "port" in node.export("/readyz")[1], 5, "readiness says so")
        sh("ip", "link", "set", harness.backend.port, "up")
        eventually(lambda: node.http("GET", "/healthz", timeout=1).status == 200, 10, "served again")
        eventually(lambda: node.metrics().sum("ports_up") == 1, 5, "the link is back")
        assert node.dataplane == pid


@dpdk_test
def device_is_taken_away_and_comes_back():
    """The interface is deleted and made again, with another link address: the same process serves on it."""
    with running() as node:
        pid = node.dataplane
        harness.backend.unplug()
        eventually(lambda: "is gone" in node.logs(), 5, "the device is missed")
        harness.backend.plug()
        eventually(lambda: node.http("GET", "/healthz", timeout=1).status == 200, 10, "served again")
        assert node.dataplane == pid
        assert node.stop() == 0


@dpdk_test
def tagged_frames():
    """An address in a VLAN is there for those in the VLAN, and its answers are tagged; for the others it is not."""
    sets = {
        "net.listen": "198.18.78.2:8080",
        "dpdk.addresses": ["198.18.78.2/24@0.100"],
        "dpdk.routes": ["198.18.77.0/24 via 198.18.78.1"],
    }
    node = Node(sets)
    try:
        node.start()
        eventually(lambda: "serves on" in node.logs(), 10, "node up")
        with harness.backend.raw() as raw:
            assert raw.ask_arp("198.18.78.1", "198.18.78.2", vlan=100) == 100
            assert raw.ask_arp("198.18.78.1", "198.18.78.2", vlan=None) is None
            assert raw.ask_arp("198.18.78.1", "198.18.78.2", vlan=101) is None
    finally:
        node.cleanup()


@dpdk_test
def no_system_calls():
    """N-1: under load an lcore on a memif link makes no system call."""
    sets = {
        "net.poll": "busy",
        "net.listen": "198.18.79.1:8080",
        "dpdk.ports": [f"net_memif0,role=server,id=0,socket=mr-{os.getpid()},socket-abstract=yes"],
        "dpdk.addresses": ["198.18.79.1/24"],
    }
    node = Node(sets)
    load = None
    try:
        node.start()
        eventually(lambda: "serves on" in node.logs(), 10, "node up")
        load = subprocess.Popen([
            os.path.join(BUILD, "tools/millload"), "--backend", "dpdk", "--vdev",
            f"net_memif1,role=client,id=0,socket=mr-{os.getpid()},socket-abstract=yes", "--address", "198.18.79.2/24",
            "-c", "16", "-d", "60", f"{node.url}/version",
        ], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        answered = lambda: node.metrics().sum("http_requests_total")
        eventually(lambda: answered() > 1000, 15, "load flows")
        before = answered()
        tasks = f"/proc/{node.dataplane}/task"
        lcore = next(t for t in os.listdir(tasks) if open(f"{tasks}/{t}/comm").read().startswith("rte-worker"))
        out = subprocess.run(["timeout", "-s", "INT", "5", tool("strace"), "-o", "/dev/stdout", "-p", lcore],
                             capture_output=True, text=True, timeout=20, check=False)
        assert "attached" in out.stderr, out.stderr
        calls = [line for line in out.stdout.splitlines() if "(" in line and "detached" not in line]
        eventually(lambda: answered() > before + 1000, 5, "requests were answered meanwhile")
        assert not calls, calls[:5]
    finally:
        if load is not None:
            load.kill()
            load.wait()
        node.cleanup()
