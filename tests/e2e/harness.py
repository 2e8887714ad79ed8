"""What a test needs: a node of its own, the clients to reach it, and a place in the list of tests.

All access to a node goes through Node and its back end, so that the same tests run wherever a back end can put a
node and its clients.
"""
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from netns import DpdkBackend
from wire import Conn, Metrics, check_error, eventually, request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Taken out of the environment: a node refuses MILLRACE_ variables that are not its keys.
BUILD = os.path.join(ROOT, os.environ.pop("MILLRACE_BUILD", "build"))
IS_ASAN = "asan" in os.path.basename(BUILD)
TESTS = []


class Skip(Exception):
    """This machine cannot run the test; the text says why."""


class Test:
    def __init__(self, run, sets, fresh, asan, only):
        self.run = run
        self.name = f"{run.__module__.removeprefix('test_')}.{run.__name__}"
        self.sets = sets
        self.fresh = fresh
        self.asan = asan
        self.only = only


def test(sets=None, fresh=False, asan=False, node=True, only=None):
    """Registers a test: it gets a running node with these settings (one of its own when fresh).

    asan: also part of the run under AddressSanitizer. node=False: the test starts what it needs itself.
    only: the back end it is about; it is no test of the others.
    """

    def add(run):
        TESTS.append(Test(run, (sets or {}) if node else None, fresh, asan, only))
        return run

    return add


class HostBackend:
    """Node and clients on Linux sockets of this machine."""

    name = "host"

    def settings(self):
        return {"net.backend": "host", "net.listen": f"127.0.0.1:{free_port()}"}

    def client_ip(self, n):
        """An address clients can have besides their usual one."""
        return f"127.0.0.{n}"

    def command(self, argv):
        """How a client program is started so that it reaches the node."""
        return argv

    def connect(self, addr, source=None, timeout=10, rcvbuf=None):
        sock = socket.socket()
        sock.settimeout(timeout)
        if rcvbuf:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        if source:
            sock.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: 24
            sock.bind((source, 0))
        try:
            sock.connect(addr)
        except BaseException:
            sock.close()
            raise
        return sock


BACKENDS = {"host": HostBackend, "dpdk": DpdkBackend}
backend = HostBackend()


def use_backend(name):
    global backend
    backend = BACKENDS[name]()


def client_ip(n):
    return backend.client_ip(n)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def split_addr(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def b3(data):
    """The address of some bytes, by the independent b3sum."""
    out = subprocess.run(["b3sum", "--no-names"], input=data, capture_output=True, check=True)
    return "b3:" + out.stdout.decode().strip()


def children(pid):
    """Every live descendant of a process."""
    out = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
                for child in map(int, f.read().split()):
                    out += [child] + children(child)
    return out


def comm(pid):
    with contextlib.suppress(OSError):
        return os.path.basename(os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)"))
    return None


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def yaml(settings):
    """section.key settings as a configuration file; a list value is a YAML list."""
    sections = {}
    for key, value in settings.items():
        section, name = key.split(".")
        sections.setdefault(section, {})[name] = value
    lines = []
    for section, keys in sections.items():
        lines.append(f"{section}:")
        lines += [f"  {k}: {json.dumps(v)}" for k, v in keys.items()]
    return "\n".join(lines) + "\n"


class Node:
    """The launcher and its two processes, in a directory of their own under a name of their own."""

    LISTS = ("net.listen", "net.lcores", "storage.write_from")

    def __init__(self, sets=None, args=(), wrapper=(), env=None):
        self.dir = tempfile.mkdtemp(prefix="mr-")
        self.name = f"t-{os.getpid()}-{random.randrange(1 << 32):08x}"
        self.settings = {
            "node.name": self.name,
            "node.run_dir": os.path.join(self.dir, "run"),
            "exporter.listen": f"127.0.0.1:{free_port()}",
            "storage.slab_bytes": 64 << 20,
            "log.format": "json",
        }
        self.settings.update(backend.settings())
        self.settings.update(sets or {})
        for key in self.LISTS:
            if isinstance(self.settings.get(key), str):
                self.settings[key] = [self.settings[key]]
        self.config = os.path.join(self.dir, "millrace.yaml")
        self.log = os.path.join(self.dir, "log")
        self.write_config()
        self.args = list(args)
        self.wrapper = list(wrapper)
        self.env = {**os.environ, **(env or {})}
        self.process = None
        self.seen = set()  # every process of this node we have met, so that none is left behind

    @property
    def addr(self):
        return split_addr(self.settings["net.listen"][0])

    @property
    def url(self):
        return "http://%s:%d" % self.addr

    @property
    def ops_socket(self):
        return os.path.join(self.settings["node.run_dir"], f"{self.name}.ops.sock")

    @property
    def exporter(self):
        return split_addr(self.settings["exporter.listen"])

    def write_config(self, text=None, **changes):
        """Writes the configuration file anew; changes are section__key=value."""
        settings = {**self.settings, **{k.replace("__", "."): v for k, v in changes.items()}}
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(yaml(settings) if text is None else text)

    def start(self):
        argv = self.wrapper + [os.path.join(BUILD, "tools/millrace"), "--config", self.config] + self.args
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, cwd=self.dir
            )
        return self

    def wait_ready(self, timeout=20):
        def ready():
            assert self.process.poll() is None, f"launcher ended with {self.process.returncode}:\n{self.logs()}"
            return self.http("GET", "/readyz").status == 200

        try:
            eventually(ready, timeout, "node ready")
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.logs()}") from e
        self.pids()
        return self

    # --- clients

    def connect(self, source=None, timeout=10, rcvbuf=None):
        return Conn(backend.connect(self.addr, source, timeout, rcvbuf), timeout)

    def http(self, method, path, fields=(), body=None, timeout=10, source=None):
        """One request on a connection of its own."""
        with self.connect(timeout=timeout, source=source) as c:
            c.send_some(request(method, path, list(fields) + [("Connection", "close")], body))
            return c.read(method)

    def put(self, data, source=None):
        address = b3(data)
        res = self.http("PUT", "/o/" + address, body=data, source=source)
        assert res.status in (200, 201), res
        return address

    def client(self, *argv, **kw):
        """Runs a client program to its end."""
        kw.setdefault("timeout", 60)
        return subprocess.run(backend.command(list(argv)), capture_output=True, **kw)

    def client_start(self, *argv):
        return subprocess.Popen(
            backend.command(list(argv)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def curl(self, path, *args):
        out = self.client("curl", "-sS", "--max-time", "20", *args, self.url + path)
        assert out.returncode == 0, out.stderr.decode()
        return out.stdout

    def export(self, path, timeout=5):
        """GET from the exporter: (status, text)."""
        url = "http://%s:%d%s" % (*self.exporter, path)
        try:
            with urllib.request.urlopen(url, timeout=timeout) as r:
                return r.status, r.read().decode()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.read().decode()

    def metrics(self):
        status, text = self.export("/metrics")
        assert status == 200, status
        return Metrics(text)

    def readyz(self):
        """(status, JSON) from the data plane's own port."""
        res = self.http("GET", "/readyz")
        return res.status, res.json()

    def millctl(self, *args, check=0, timeout=20, env=None):
        out = subprocess.run(
            [os.path.join(BUILD, "tools/millctl"), "--config", self.config, *args],
            capture_output=True, text=True, timeout=timeout, cwd=self.dir, env=env or self.env,
        )
        if check is not None:
            assert out.returncode == check, f"millctl {args}: {out.returncode}\n{out.stdout}\n{out.stderr}"
        return out

    def millctl_json(self, *args):
        return json.loads(self.millctl(*args, "--json").stdout)

    # --- processes

    def pids(self):
        """{'millrace-dataplane': pid, ...} of what runs now."""
        found = {}
        for pid in [self.process.pid] + children(self.process.pid):
            name = comm(pid)
            if name and is_running(pid):
                self.seen.add(pid)
                found[name] = pid
        return found

    @property
    def dataplane(self):
        return self.pids()["millrace-dataplane"]

    @property
    def controlplane(self):
        return self.pids()["millrace-controlplane"]

    @property
    def launcher(self):
        return self.pids()["millrace"]

    def is_up(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, timeout=20):
        """SIGTERM to the launcher, then the exit code."""
        os.kill(self.launcher, signal.SIGTERM)
        return self.process.wait(timeout)

    def logs(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return "".join(f.readlines()[-60:])

    def complaints(self):
        """Sanitizer reports and failed assertions in the log."""
        with open(self.log, encoding="utf-8", errors="replace") as f:
            text = f.read()
        return [w for w in ("AddressSanitizer", "LeakSanitizer", "runtime error:", "MUST") if w in text]

    def cleanup(self):
        """Ends what still runs, by process id, and removes what the node had."""
        if self.process is not None:
            self.pids()
            if self.process.poll() is None:
                os.kill(self.pids().get("millrace", self.process.pid), signal.SIGTERM)
                try:
                    self.process.wait(12)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            for pid in self.seen:
                if is_running(pid) and comm(pid) in ("millrace-dataplane", "millrace-controlplane", "millrace"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.unlink(f"/dev/shm/millrace-{self.name}")
        shutil.rmtree(self.dir, ignore_errors=True)


@contextlib.contextmanager
def running(sets=None, **kw):
    """A node for one test."""
    node = Node(sets, **kw)
    try:
        yield node.start().wait_ready()
    finally:
        node.cleanup()


def tool(name):
    path = shutil.which(name)
    if path is None:
        raise Skip(f"{name} is not installed")
    return path


__all__ = [
    "BUILD", "Conn", "IS_ASAN", "Metrics", "Node", "ROOT", "Skip", "b3", "check_error", "children", "client_ip", "comm", "eventually",
    "free_port", "is_running", "request", "running", "test", "time", "tool", "yaml",
]
