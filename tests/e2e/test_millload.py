"""millload against a real node, and against servers that misbehave (N-6)."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading

from harness import BUILD, Node, ROOT, b3, eventually, free_port, test

DATA = os.urandom(1024)
NO_CAP = {"limits.conns_per_ip": 0}


def millload(node, *args, code=0):
    """Runs it with --json; every request must be accounted for."""
    out = node.client(os.path.join(BUILD, "tools/millload"), "--json", "--quiet", *args)
    text = out.stdout.decode()
    assert out.returncode == code, f"{args}: {out.returncode}\n{text}\n{out.stderr.decode()}"
    if code >= 2:
        return out.stderr.decode()
    result = json.loads(text)
    r = result["requests"]
    assert r["sent"] == r["answered"] + r["one_way"] + r["failed"] + r["in_flight"], r
    assert r["failed"] == sum(result["failures"].values()), result
    return result


class Nothing:
    """What runs a client program when there is no node."""

    @staticmethod
    def client(*argv):
        return subprocess.run(argv, capture_output=True, timeout=60)


@contextlib.contextmanager
def server(answer):
    """A server whose every connection is handled by answer(socket), in threads; gives its URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:

        def serve():
            while True:
                try:
                    conn, _ = listener.accept()
                except OSError:
                    return
                with conn, contextlib.suppress(OSError):
                    answer(conn)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield "http://127.0.0.1:%d/" % listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def fixed(reply):
    def answer(conn):
        conn.settimeout(10)
        while conn.recv(4096):
            conn.sendall(reply)

    return answer


@test(NO_CAP)
def counts_agree(node):
    """Exactly as many requests as asked for, and the node counted the same."""
    path = "/o/" + node.put(DATA)

    def count():
        return node.metrics().sum("http_requests_total", route="/o", method="GET", status="200")

    before = count()
    with tempfile.NamedTemporaryFile() as f:
        f.write(DATA)
        f.flush()
        got = millload(node, "-n", "5000", "-c", "20", "--expect-body", f.name, node.url + path)
    assert got["requests"]["answered"] == 5000 and got["statuses"] == {"200": 5000}, got
    assert got["latency_us"]["count"] == 5000 and got["opened"] == 20, got
    assert got["measured"]["body_bytes"] == 5000 * len(DATA), got
    assert count() - before == 5000


@test(NO_CAP)
def pipelines(node):
    got = millload(node, "-n", "3000", "-c", "4", "-p", "16", node.url + "/o/" + node.put(DATA))
    assert got["requests"]["answered"] == 3000 and got["opened"] == 4, got


@test(NO_CAP)
def connection_per_request(node):
    got = millload(node, "-n", "500", "-c", "8", "--per-request", node.url + "/o/" + node.put(DATA))
    assert got["requests"]["answered"] == 500 and got["opened"] == 500, got


@test(NO_CAP)
def open_loop(node):
    """The schedule decides how many: one second of 500/s, with and without connections kept."""
    url = node.url + "/o/" + node.put(DATA)
    for more in ([], ["--per-request"]):
        got = millload(node, "-r", "500", "-d", "1", "-c", "16", *more, url)
        assert 500 <= got["requests"]["sent"] <= 510 and got["requests"]["not_begun"] == 0, got
        assert got["mode"] == "open" and got["requests"]["answered"] == got["requests"]["sent"], got


@test(NO_CAP)
def large_answers(node):
    got = millload(node, "-n", "20", "-c", "2", node.url + "/o/" + node.put(os.urandom(1 << 20)))
    assert got["measured"]["body_bytes"] == 20 << 20, got


@test(NO_CAP)
def writes(node):
    with tempfile.NamedTemporaryFile() as f:
        f.write(os.urandom(30000))
        f.flush()
        got = millload(node, "-n", "20", "-c", "1", "--method", "POST", "--body", f.name, "--expect-status", "200",
                       node.url + "/o", code=1)
    # The first one is new, the others are there already.
    assert got["statuses"] == {"200": 19, "201": 1} and got["failures"] == {"status": 1}, got


@test(NO_CAP, only="host")
def idle_connections(node):
    """They come from the addresses named, stay open beside the load, and the node sees them."""
    url = node.url + "/o/" + node.put(DATA)
    got = millload(node, "-n", "1000", "-c", "4", "--idle", "600", "--source", "127.0.0.2-127.0.0.4", url)
    assert got["idle"] == {"wanted": 600, "open": 600, "failed": 0, "lost": 0}, got
    assert got["requests"]["answered"] == 1000, got


@test({"limits.conns_per_ip": 8}, only="host")
def caps_are_seen(node):
    """Sources are told apart: one address may have 8 connections, three of them have more."""
    url = node.url + "/o/" + node.put(DATA)
    got = millload(node, "-n", "100", "-c", "20", "--source", "127.0.1.1-127.0.1.3", url)
    assert got["requests"]["answered"] == 100 and got["open"] == 20, got
    got = millload(node, "-n", "10", "-c", "1", "--idle", "9", "--source", "127.0.1.9", url, code=1)
    assert got["idle"]["open"] == 8 and got["idle"]["lost"] + got["idle"]["failed"] == 1, got
    assert got["requests"]["failed"] == 10, got


@test(NO_CAP)
def failures_have_names(node):
    url = node.url + "/o/" + node.put(DATA)
    got = millload(node, "-n", "10", "-c", "2", node.url + "/nowhere", code=1)
    assert got["failures"] == {"status": 10} and got["statuses"] == {"404": 10}, got
    got = millload(node, "-n", "10", "-c", "2", "--expect-length", "5", url, code=1)
    assert got["failures"] == {"length": 10}, got
    with tempfile.NamedTemporaryFile() as f:
        f.write(DATA[:-1] + bytes([DATA[-1] ^ 1]))
        f.flush()
        got = millload(node, "-n", "10", "-c", "2", "--expect-body", f.name, url, code=1)
    assert got["failures"] == {"body": 10}, got


@test(node=False)
def bad_servers():
    """Each misbehaviour has its name; nothing hangs, nothing is lost."""

    def cut(conn):
        conn.recv(4096)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")

    def reset(conn):
        conn.recv(4096)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def silent(conn):
        conn.settimeout(10)
        while conn.recv(4096):
            pass

    def chatty(conn):
        conn.recv(4096)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n")

    table = {
        "closed": cut,
        "reset": reset,
        "timeout": silent,
        "malformed": fixed(b"SSH-2.0-nothing here\r\n\r\n"),
        "chunked": fixed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        "unframed": fixed(b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"),
    }
    for name, answer in table.items():
        with server(answer) as url:
            got = millload(Nothing, "-n", "3", "-c", "1", "--timeout", "300", url, code=1)
        assert got["failures"] == {name: 3} and got["connection_failures"][name] == 3, (name, got)
    with server(chatty) as url:
        got = millload(Nothing, "-n", "1", "-c", "1", url)
    assert got["requests"]["answered"] == 1, got
    with server(fixed(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")) as url:
        got = millload(Nothing, "-n", "5", "-c", "1", url)
    assert got["requests"]["answered"] == 5 and got["opened"] >= 5, got


@test(node=False)
def nobody_there():
    text = millload(Nothing, "-c", "1", "--timeout", "300", "http://127.0.0.1:%d/" % free_port(), code=3)
    assert "connect_refused" in text, text


@test(node=False)
def usage():
    assert "see millload --help" in millload(Nothing, "--nonsense", "http://127.0.0.1/", code=2)
    assert "usage: millload" in Nothing.client(os.path.join(BUILD, "tools/millload"), "--help").stdout.decode()


@test(node=False)
def udp():
    """An echo that loses every tenth datagram: those are timeouts, the rest is answered; both address families."""
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as echo:
            echo.bind((host, 0))
            echo.settimeout(0.1)
            over = threading.Event()
            seen = []

            def serve():
                while not over.is_set():
                    with contextlib.suppress(TimeoutError):
                        data, peer = echo.recvfrom(2048)
                        seen.append(len(data))
                        if len(seen) % 10:
                            echo.sendto(data, peer)

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                text = f"[{host}]" if ":" in host else host
                url = f"udp://{text}:{echo.getsockname()[1]}"
                got = millload(Nothing, "-n", "100", "-c", "8", "--timeout", "200", "--payload", "100", url, code=1)
                assert got["failures"] == {"timeout": 10} and got["requests"]["answered"] == 90, got
                assert seen == [100] * 100
                got = millload(Nothing, "-r", "1000", "-n", "200", "--one-way", url)
                assert got["requests"]["one_way"] == got["requests"]["sent"] == 200, got
            finally:
                over.set()
                thread.join()


@test(node=False)
def ipv6():
    with socket.socket(socket.AF_INET6) as s:
        s.bind(("::1", 0))
        s.listen(8)

        def serve():
            conn, _ = s.accept()
            with conn, contextlib.suppress(OSError):
                fixed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")(conn)

        thread = threading.Thread(target=serve)
        thread.start()
        got = millload(Nothing, "-n", "10", "-c", "1", "http://[::1]:%d/" % s.getsockname()[1])
        thread.join()
    assert got["requests"]["answered"] == 10, got


@test(node=False, asan=True)
def over_memif():
    """The node's own TCP/IP at both ends, past the kernel, over IPv4 and IPv6 (N-2)."""
    path = tempfile.mkdtemp(prefix="mr-memif-")
    memif = f"net_memif0,socket={path}/sock,socket-abstract=no,role="
    node = Node({
        "net.backend": "dpdk", "dpdk.ports": [memif + "server"], "dpdk.addresses": ["10.9.0.1/24", "fd09::1/64"],
        "net.listen": ["10.9.0.1:8080", "[fd09::1]:8080"], "limits.conns_per_ip": 0,
        "storage.write_from": ["10.9.0.0/24"],
    })
    base = ["--backend", "dpdk", "--vdev", memif + "client", "--address", "10.9.0.2-10.9.0.4/24",
            "--address", "fd09::2/64", "--timeout", "20000"]
    body = os.path.join(path, "body")
    with open(body, "wb") as f:
        f.write(os.urandom(100000))
    try:
        node.start()
        eventually(lambda: os.path.exists(path + "/sock"), 20, "the node listens")
        with open(body, "rb") as f:
            name = "/o/" + b3(f.read())
        v4, v6 = "http://10.9.0.1:8080" + name, "http://[fd09::1]:8080" + name
        millload(Nothing, *base, "-n", "1", "-c", "1", "--method", "PUT", "--body", body, "--expect-status", "201", v4)
        for args in (["-c", "8"], ["-c", "8", "-p", "8"], ["-c", "4", "--per-request"], ["-c", "8", "--idle", "300"]):
            for url in (v4, v6):
                got = millload(Nothing, *base, "-n", "200", "--expect-body", body, *args, url)
                assert got["requests"]["answered"] == 200 and got["idle"]["open"] == got["idle"]["wanted"], got
        assert node.stop() == 0, node.logs()
        assert not node.complaints(), node.logs()
    finally:
        node.cleanup()
        shutil.rmtree(path)


@test(node=False)
def pktgen_scripts():
    """Every script comes out as commands of Pktgen, with all its names filled in."""
    for kind in ("syn-flood", "udp", "small"):
        argv = [os.path.join(ROOT, "tools/pktgen/render"), kind, "--mac", "02:00:00:00:00:01"]
        out = subprocess.run(argv + ["--address", "10.0.0.1", "--sources", "256"], capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        lines = [line for line in out.stdout.splitlines() if not line.startswith("#")]
        assert lines[-1] == "start 0" and "set 0 count 1000000" in lines and "range 0 src ip max 198.18.0.255" in lines
        assert not any("{" in line for line in lines), lines
        assert subprocess.run(argv + ["--address", "300.0.0.1"], capture_output=True).returncode == 2
