"""HTTP/1.1 as bytes on a connection: splits, pipelining, closes, limits (X-3, X-5, X-8, X-19)."""
import random
import threading

from harness import b3, check_error, eventually, request, test
from wire import Closed, chunked

rng = random.Random(4)
LIMIT_HEAD, LIMIT_FIELDS, LIMIT_TARGET = 16384, 100, 8192


def fence(node):
    """A round trip: what was sent before it on other connections of the lcore has been looked at."""
    assert node.http("GET", "/healthz").status == 200


def split_everywhere(node, message, check):
    """Sends the message cut in two at every byte, a batch of connections at a time."""
    for start in range(1, len(message), 100):
        cuts = range(start, min(start + 100, len(message)))
        conns = [node.connect() for _ in cuts]
        try:
            for c, cut in zip(conns, cuts):
                c.send(message[:cut])
            fence(node)
            for c, cut in zip(conns, cuts):
                c.send(message[cut:])
            for c in conns:
                check(c)
        finally:
            for c in conns:
                c.close()


@test(asan=True)
def split_at_every_byte_get(node):
    """X-19: how a request is cut into segments changes nothing."""
    data = rng.randbytes(100)
    message = request("GET", "/o/" + node.put(data), [("X-Corr-ID", "abc.1"), ("Range", "bytes=10-19")])

    def check(c):
        res = c.read()
        assert res.status == 206 and res.body == data[10:20], res

    split_everywhere(node, message, check)


@test(asan=True)
def split_at_every_byte_chunked_put(node):
    data = rng.randbytes(40)
    message = request("PUT", "/o/" + b3(data), [("Transfer-Encoding", "chunked")]) + chunked(data, 17)
    message = message.replace(b"0\r\n\r\n", b"0;ext=1\r\nTrailer: x\r\n\r\n") + request("GET", "/o/" + b3(data))

    def check(c):
        assert c.read("PUT").status in (200, 201)
        assert c.read().body == data

    split_everywhere(node, message, check)


@test(asan=True)
def byte_by_byte(node):
    data = rng.randbytes(300)
    with node.connect() as c:
        for b in request("POST", "/o", body=data):
            c.send(bytes([b]))
        assert c.read("POST").json()["address"] == b3(data)


@test(asan=True)
def pipelined_100_deep(node):
    """Answers come in the order of the requests, each with its own bytes, reads and writes mixed."""
    objects = [rng.randbytes(rng.randrange(1, 3000)) for _ in range(20)]
    paths = ["/o/" + node.put(d) for d in objects]
    message, want = b"", []
    for i in range(100):
        pick = rng.randrange(len(objects))
        if i % 10 == 3:
            fresh = rng.randbytes(500)
            message += request("PUT", "/o/" + b3(fresh), body=fresh)
            want.append(("PUT", 201, None))
        elif i % 10 == 6:
            message += request("HEAD", paths[pick])
            want.append(("HEAD", 200, b""))
        elif i % 10 == 8:
            message += request("GET", "/nowhere")
            want.append(("GET", 404, None))
        else:
            message += request("GET", paths[pick], [("X-Corr-ID", f"n{i}")])
            want.append(("GET", 200, objects[pick]))
    with node.connect() as c:
        c.send(message)
        for method, status, body in want:
            res = c.read(method)
            assert res.status == status, res
            assert body is None or res.body == body
        c.send(request("GET", "/healthz"))
        assert c.read().status == 200


@test(asan=True)
def pipelined_big_bodies_slow_reader(node):
    """Answers larger than any buffer wait for the reader and are not mixed up."""
    objects = [rng.randbytes(1 << 20) for _ in range(4)]
    paths = ["/o/" + node.put(d) for d in objects]
    with node.connect(rcvbuf=4096) as c:
        c.send(b"".join(request("GET", p) for p in paths * 3))
        for data in objects * 3:
            assert c.read().body == data


@test(asan=True)
def half_closed(node):
    """A client that ends its side still gets the answers to what it asked; half a request gets none or a 400."""
    data = rng.randbytes(400000)
    path = "/o/" + node.put(data)
    with node.connect() as c:
        c.send(request("GET", path) * 3)
        c.end()
        for _ in range(3):
            assert c.read().body == data
        c.expect_close()
    fresh = rng.randbytes(1000)
    with node.connect() as c:
        c.send(request("POST", "/o", body=fresh))
        c.end()
        assert c.read("POST").status == 201
        c.expect_close()
    for cut in (b"GET /o/x HT", request("POST", "/o", body=b"x" * 100)[:-50], b"\r\n", b""):
        with node.connect() as c:
            c.send(cut)
            c.end()
            try:
                check_error(c.read(), 400, "bad_request")
            except Closed:
                pass


@test(asan=True)
def disappearing_clients(node):
    """Clients that reset at any point cost nothing: the gauge of requests in flight returns to zero."""
    data = rng.randbytes(1 << 20)
    path = "/o/" + node.put(data)
    message = request("PUT", path, body=data)
    for i in range(60):
        c = node.connect(rcvbuf=4096)
        if i % 3 == 0:
            c.send(request("GET", path) * 5)
        elif i % 3 == 1:
            c.send(message[: rng.randrange(1, len(message))])
        else:
            c.send_some(message)
        c.sock.setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")  # SO_LINGER 0: close resets
        c.close()
    eventually(lambda: node.metrics().sum("inflight_requests", route="/o") == 0, 10, "no request in flight")
    assert node.http("GET", path).body == data


@test(asan=True)
def expect_continue(node):
    """X-19: 100 only when the body is wanted; the refusal otherwise, without a 100 before it."""
    data = rng.randbytes(5000)
    with node.connect() as c:
        head = request("PUT", "/o/" + b3(data), [("Expect", "100-continue"), ("Content-Length", len(data))])
        assert c.ask(head, "PUT").status == 100
        assert c.ask(data, "PUT").status == 201
        # the body right behind the head: a 100 may be left out
        res = c.ask(head + data, "PUT")
        if res.status == 100:
            res = c.read("PUT")
        assert res.status == 200
    with node.connect() as c:
        c.send(request("POST", "/o", [("Expect", "100-continue"), ("Content-Length", (1 << 20) + 1)]))
        check_error(c.read("POST"), 413, "body_cap")
    with node.connect() as c:  # HTTP/1.0 knows no 100
        c.send(request("POST", "/o", [("Expect", "100-continue")], data, version="HTTP/1.0"))
        assert c.read("POST").status == 200
    out = node.curl("/o", "-H", "Expect: 100-continue", "--data-binary", "@/etc/os-release", "-w", "%{http_code}")
    assert out[-3:] in (b"200", b"201"), out


@test(asan=True)
def forms_and_versions(node):
    data = rng.randbytes(100)
    path = "/o/" + node.put(data)
    with node.connect() as c:
        assert c.ask(request("GET", "http://localhost:8080" + path)).body == data
        assert c.ask(request("GET", "http://other" + path, host="localhost")).status == 200
        assert c.ask(request("GET", path + "?x=y&z")).body == data
        assert c.ask(request("GET", "/x/../" + path[1:])).body == data
        assert c.ask(request("GET", "/./" + path[1:])).body == data
    with node.connect() as c:  # HTTP/1.0 closes, unless asked to stay
        res = c.ask(b"GET %s HTTP/1.0\r\n\r\n" % path.encode())
        assert res.status == 200 and res.body == data
        c.expect_close()
    with node.connect() as c:
        res = c.ask(b"GET %s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" % path.encode())
        assert res.body == data
        if (res.get("connection") or "").lower() == "keep-alive":
            assert c.ask(request("GET", path)).body == data
    with node.connect() as c:
        res = c.ask(request("GET", path, [("Connection", "close")]))
        assert res.closed and res.body == data
        c.expect_close()
    for version in ("HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/3.0"):
        with node.connect() as c:
            res = c.ask(request("GET", path, version=version))
            assert res.status == 505 or (version == "HTTP/1.2" and res.status == 200), (version, res)


@test(asan=True)
def above_the_root(node):
    """Dot segments and encoded slashes never escape."""
    for target in ("/../etc/passwd", "/o/../../etc/passwd", "/o/%2e%2e/%2e%2e/etc/passwd", "/o/..%2f..%2fetc/passwd",
                   "/o/%5c..%5c", "/o/b3:%00", "/%zz", "/o/%", "/o/%4", "/o//..//..//x"):
        res = node.http("GET", target)
        assert res.status in (400, 404), (target, res)
        check_error(res, res.status, ("bad_request", "not_found"))


def head_of(size, fields=0):
    """A GET /healthz head of exactly `size` bytes."""
    base = request("GET", "/healthz", [(f"x{i}", "y") for i in range(fields)])
    room = size - len(base) - len(b"Pad: \r\n")
    return base[:-2] + b"Pad: " + b"p" * room + b"\r\n\r\n"


@test(asan=True)
def head_limits(node):
    """16 KiB of head, 100 fields, 8 KiB of target: at each limit fine, one past it refused and closed."""
    with node.connect() as c:
        assert c.ask(head_of(LIMIT_HEAD)).status == 200
        assert c.ask(request("GET", "/healthz", [(f"x{i}", "y") for i in range(LIMIT_FIELDS - 1)])).status == 200
        target = "/healthz?" + "q" * (LIMIT_TARGET - 9)
        assert len(target) == LIMIT_TARGET and c.ask(request("GET", target)).status == 200
        assert c.ask(head_of(LIMIT_HEAD, 50) * 3).status == 200
        assert c.read().status == 200 and c.read().status == 200
    for message, status, code in (
        (head_of(LIMIT_HEAD + 1), 431, "headers_too_large"),
        (request("GET", "/healthz", [(f"x{i}", "y") for i in range(LIMIT_FIELDS)]), 431, "headers_too_large"),
        (request("GET", "/healthz?" + "q" * (LIMIT_TARGET - 8)), 414, "target_too_long"),
        (b"GET /" + b"a" * 100000, 414, "target_too_long"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 100000, 431, "headers_too_large"),
        (b"G" * 100000, (400, 431, 501), ("bad_request", "headers_too_large", "not_implemented")),
    ):
        with node.connect() as c:
            c.send_some(message)
            res = c.read()
            assert res.status in (status if isinstance(status, tuple) else (status,)), (message[:40], res)
            check_error(res, res.status, code)
            assert res.closed
            c.expect_close()


@test(asan=True)
def corr_id(node):
    """X-5: a valid X-Corr-ID is echoed, another is replaced, a missing one is made up; each request has its own."""
    check_error(node.http("GET", "/nowhere", [("X-Corr-ID", "a.B_3-9")]), 404, "not_found", "a.B_3-9")
    long = "x" * 64
    check_error(node.http("GET", "/nowhere", [("X-Corr-ID", long)]), 404, "not_found", long)
    for bad in (long + "x", "a b", 'a"b', "", "a<b", "é"):
        res = node.http("GET", "/nowhere", [("X-Corr-ID", bad)])
        check_error(res, 404, "not_found")
        assert res.get("x-corr-id") != bad
    ids = {node.http("GET", "/nowhere").get("x-corr-id") for _ in range(20)}
    assert len(ids) == 20
    res = node.http("GET", "/o/" + node.put(b"corr"), [("X-Corr-ID", "mine")])
    assert res.get("x-corr-id") in (None, "mine")


@test(asan=True)
def methods_and_paths(node):
    """G-2: unknown path 404, known path with another method 405 + Allow; unknown method 501 or 405."""
    for path, allowed in (("/o", {"POST"}), ("/o/" + b3(b"m"), {"GET", "HEAD", "PUT"}), ("/healthz", {"GET", "HEAD"}),
                          ("/readyz", {"GET", "HEAD"}), ("/version", {"GET", "HEAD"})):
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"):
            res = node.http(method, path, body=b"m" if method in ("POST", "PUT", "PATCH") else None)
            if method in allowed:
                assert res.status != 405, (method, path, res)
                continue
            assert res.status == 405, (method, path, res)
            assert method not in res.get("allow").replace(" ", "").split(","), res
            if method != "HEAD":
                check_error(res, 405, "method_not_allowed")
    for path in ("/", "/x", "/oo", "/O", "/healthz/x", "/v2/o"):
        check_error(node.http("GET", path), 404, "not_found")
    res = node.http("BREW", "/o")
    assert res.status in (405, 501), res
    res = node.http("TRACE", "/o")
    assert res.status in (405, 501), res


@test(asan=True)
def health_and_version(node):
    """X-8."""
    for method in ("GET", "HEAD"):
        for path in ("/healthz", "/readyz", "/version"):
            res = node.http(method, path)
            assert res.status == 200, res
            assert method == "HEAD" or res.body
    ready = node.http("GET", "/readyz").json()
    assert ready == {"ready": True, "degraded": False, "missing": [], "reasons": []}, ready
    assert "version" in node.http("GET", "/version").json()


@test(asan=True)
def garbage(node):
    """Random bytes and mutated requests: an error answer or a close, and the node lives."""
    seeds = [request("GET", "/o/" + b3(b"g"), [("Range", "bytes=0-")]), request("PUT", "/o/" + b3(b"g"), body=b"g"),
             request("POST", "/o", [("Transfer-Encoding", "chunked")]) + chunked(b"hello" * 20, 9)]
    for i in range(400):
        if i % 2:
            message = rng.randbytes(rng.randrange(1, 3000))
        else:
            message = bytearray(rng.choice(seeds))
            for _ in range(rng.randrange(1, 5)):
                at = rng.randrange(len(message))
                message[at : at + rng.randrange(2)] = rng.randbytes(rng.randrange(3))
            message = bytes(message)
        with node.connect() as c:
            c.send_some(message)
            try:
                c.end()
                while True:
                    c.read(message.split(b" ")[0].decode("latin-1"))
            except (Closed, OSError):
                pass
            assert c.buf == b"", (message, c.buf)
    assert node.http("GET", "/healthz").status == 200


@test(asan=True)
def many_at_once(node):
    """Concurrent writers and readers: every answer has its own bytes."""
    failures = []

    def work(seed):
        r = random.Random(seed)
        try:
            with node.connect() as c:
                for _ in range(30):
                    data = r.randbytes(r.randrange(1, 200000))
                    res = c.ask(request("POST", "/o", body=data), "POST")
                    assert res.status in (201, 507), res
                    if res.status == 201:
                        res = c.ask(request("GET", "/o/" + res.json()["address"]))
                        assert res.body == data
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not failures, failures
