"""Objects: store, read, ranges, conditions (S-1, S-2)."""
import random
import re

from harness import b3, check_error, client_ip, eventually, request, test
from wire import chunked

rng = random.Random(2)
MIB = 1 << 20


def check_object_fields(res, address):
    assert res.get("etag") == f'"{address}"', res
    assert res.get("accept-ranges") == "bytes", res
    assert "accept-encoding" in res.get("vary").lower(), res
    assert "immutable" in res.get("cache-control"), res


@test(asan=True)
def put_get_head(node):
    """S-1 S-2: 201 for a new object, 200 for one already there, the same bytes back, HEAD without them."""
    data = rng.randbytes(1000)
    path = "/o/" + b3(data)
    assert node.http("PUT", path, body=data).status == 201
    assert node.http("PUT", path, body=data).status == 200
    for prefix in ("", "/v1"):
        res = node.http("GET", prefix + path)
        assert res.status == 200 and res.body == data, res
        check_object_fields(res, b3(data))
        head = node.http("HEAD", prefix + path)
        assert head.status == 200 and head.get("content-length") == "1000", head
        check_object_fields(head, b3(data))


@test(asan=True)
def post_computes_the_address(node):
    """S-2: POST answers with the address; the answer is the same when the object is there already."""
    data = rng.randbytes(70000)
    for status in (201, 200):
        res = node.http("POST", "/o", body=data)
        assert res.status == status, res
        assert res.json()["address"] == b3(data) and res.json()["length"] == len(data), res
        assert res.get("location") in (None, "/o/" + b3(data)), res
    assert node.http("GET", "/o/" + b3(data)).body == data


@test(asan=True)
def mismatch_stores_nothing(node):
    """S-2: 409 when the bytes do not hash to the address, and nothing appears under either address."""
    data, other = rng.randbytes(500), rng.randbytes(500)
    check_error(node.http("PUT", "/o/" + b3(other), body=data), 409, "conflict")
    check_error(node.http("GET", "/o/" + b3(other)), 404, "not_found")
    check_error(node.http("GET", "/o/" + b3(data)), 404, "not_found")


@test(asan=True)
def addresses(node):
    """What is not an address is refused and never found."""
    good = b3(b"x" * 10)
    for bad in ("b3:", good[:-1], good + "0", "b3:" + "g" * 64, "b2:" + good[3:], good + "/x", "x"):
        for method in ("GET", "PUT"):
            res = node.http(method, "/o/" + bad, body=b"x" if method == "PUT" else None)
            assert res.status in (400, 404), (bad, res)
            check_error(res, res.status, ("bad_request", "not_found"))
    node.put(b"x" * 10)
    assert node.http("GET", "/o/" + good.replace("b3:", "b3%3A")).status == 200
    assert node.http("GET", "/o/" + good.replace("b3:", "b3%253A")).status in (400, 404)


@test(asan=True)
def sizes_up_to_the_cap(node):
    """X-4: empty, around a chunk, exactly 1 MiB; with a length and chunked."""
    for size in (0, 1, 65535, 65536, 65537, MIB - 1, MIB):
        data = rng.randbytes(size)
        path = "/o/" + node.put(data)
        res = node.http("GET", path)
        assert res.status == 200 and res.body == data, (size, res.status, len(res.body))
        again = rng.randbytes(size)
        with node.connect() as c:
            head = request("PUT", "/o/" + b3(again), [("Transfer-Encoding", "chunked")])
            res = c.ask(head + chunked(again, 40000), "PUT")
            assert res.status == (201 if size else 200), (size, res)
            res = c.ask(request("GET", "/o/" + b3(again)))
            assert res.body == again


@test(asan=True)
def one_past_the_cap(node):
    """X-4: 413 before the body is read when the length says so, and while reading when chunked; then a close."""
    with node.connect() as c:
        c.send(request("POST", "/o", [("Content-Length", MIB + 1)]))
        res = c.read("POST")
        check_error(res, 413, "body_cap")
        assert res.closed
        c.expect_close()
    with node.connect() as c:
        c.send_some(request("POST", "/o", [("Transfer-Encoding", "chunked")]) + chunked(bytes(MIB + 1), 65536))
        check_error(c.read("POST"), 413, "body_cap")
    with node.connect() as c:  # one chunk that announces too much
        c.send(request("POST", "/o", [("Transfer-Encoding", "chunked")]) + b"100001\r\n")
        check_error(c.read("POST"), 413, "body_cap")
    with node.connect() as c:
        c.send(request("POST", "/o", [("Content-Length", "99999999999999999999999")]))
        res = c.read("POST")
        assert res.status in (400, 413), res


def range_oracle(value, size):
    """What RFC 9110 14 says about one Range field: ('whole',), ('part', first, last), ('none',), or ('multi',)."""
    m = re.fullmatch(r"(?i:bytes)=(.*)", value)
    if not m:
        return ("whole",)
    specs = [s.strip(" \t") for s in m[1].split(",")]
    specs = [s for s in specs if s]
    parsed = []
    for spec in specs:
        one = re.fullmatch(r"(\d+)-(\d*)", spec)
        suffix = re.fullmatch(r"-(\d+)", spec)
        if one:
            first = int(one[1])
            last = int(one[2]) if one[2] else size - 1
            if one[2] and last < first:
                return ("whole",)
            parsed.append(("part", first, min(last, size - 1)) if first < size else ("none",))
        elif suffix:
            n = min(int(suffix[1]), size)
            if size == 0 and int(suffix[1]) > 0:
                return ("whole",)  # satisfiable, but no 206 can say "nothing of nothing"
            parsed.append(("part", size - n, size - 1) if n else ("none",))
        else:
            return ("whole",)
    if not parsed:
        return ("whole",)
    return parsed[0] if len(parsed) == 1 else ("multi",)


def range_values(size):
    edges = sorted({0, 1, 65535, 65536, 65537, size - 2, size - 1, size, size + 1} & set(range(size + 2)))
    for a in edges:
        yield f"bytes={a}-"
        yield f"bytes=-{a}"
        for b in edges:
            yield f"bytes={a}-{b}"
    big = "9" * 30
    yield from (
        f"bytes=0-{big}", f"bytes={big}-", f"bytes=-{big}", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes =0-1",
        "BYTES=0-1", "lines=0-1", "bytes=0x1-2", "bytes=+1-2", "bytes=1-2-3", "0-1", "bytes=--1", "bytes=5-2",
    )


def check_range(res, value, data, address):
    want = range_oracle(value, len(data))
    if want[0] == "whole":
        assert res.status == 200 and res.body == data, (value, res)
    elif want[0] == "none":
        check_error(res, 416, "range_not_satisfiable")
        assert res.get("content-range") == f"bytes */{len(data)}", (value, res)
    else:
        _, first, last = want
        assert res.status == 206, (value, res)
        assert res.get("content-range") == f"bytes {first}-{last}/{len(data)}", (value, res)
        assert res.body == data[first : last + 1], (value, len(res.body))
        check_object_fields(res, address)


@test(asan=True)
def ranges_against_the_oracle(node):
    """S-1: every shape of a single range, around chunk borders and ends."""
    for size in (0, 1, 10, 65536, 200000):
        data = rng.randbytes(size)
        address = node.put(data)
        with node.connect() as c:
            for value in range_values(size):
                res = c.ask(request("GET", "/o/" + address, [("Range", value)]))
                check_range(res, value, data, address)


@test(asan=True)
def range_on_head_and_multi(node):
    """RFC 9110: Range is for GET only. Several ranges: the whole or a refusal, never a part of them."""
    data = rng.randbytes(3000)
    path = "/o/" + node.put(data)
    res = node.http("HEAD", path, [("Range", "bytes=0-9")])
    assert res.status == 200 and res.get("content-length") == "3000", res
    res = node.http("GET", path, [("Range", "bytes=0-9,20-29")])
    if res.status == 200:
        assert res.body == data
    else:
        check_error(res, 416, "range_not_satisfiable")


@test()
def ranges_with_curl(node):
    data = rng.randbytes(300000)
    path = "/o/" + node.put(data)
    for spec, want in (("0-99", data[:100]), ("65000-70000", data[65000:70001]), ("299990-", data[299990:]),
                       ("-7", data[-7:])):
        assert node.curl(path, "-r", spec) == want, spec
    assert node.curl(path) == data
    assert node.curl(path, "-o", "/dev/null", "-w", "%{http_code}", "-r", "300000-") == b"416"


@test(asan=True)
def conditions(node):
    """S-1: If-None-Match, If-Match and If-Range, strong and weak, lists and stars."""
    data = rng.randbytes(2000)
    address = node.put(data)
    path, tag, other = "/o/" + address, f'"{address}"', '"b3:other"'
    table = [
        ([("If-None-Match", tag)], 304),
        ([("If-None-Match", "W/" + tag)], 304),
        ([("If-None-Match", f"{other}, {tag}")], 304),
        ([("If-None-Match", "*")], 304),
        ([("If-None-Match", other)], 200),
        ([("If-Match", tag)], 200),
        ([("If-Match", "*")], 200),
        ([("If-Match", f"{other},{tag}")], 200),
        ([("If-Match", other)], 412),
        ([("If-Match", "W/" + tag)], 412),
        ([("If-Match", other), ("If-None-Match", tag)], 412),
        ([("Range", "bytes=0-9"), ("If-Range", tag)], 206),
        ([("Range", "bytes=0-9"), ("If-Range", other)], 200),
        ([("Range", "bytes=0-9"), ("If-Range", "W/" + tag)], 200),
        ([("Range", "bytes=0-9"), ("If-Range", "Sat, 29 Oct 1994 19:43:31 GMT")], 200),
        ([("Range", "bytes=5000-"), ("If-Range", other)], 200),
        ([("Range", "bytes=5000-"), ("If-Range", tag)], 416),
        ([("Range", "bytes=0-9"), ("If-None-Match", tag)], 304),
        ([("If-Modified-Since", "Sat, 29 Oct 2094 19:43:31 GMT")], 200),
    ]
    with node.connect() as c:
        for fields, status in table:
            res = c.ask(request("GET", path, fields))
            assert res.status == status, (fields, res)
            if status == 304:
                assert res.get("etag") == tag, res
            if status == 200:
                assert res.body == data
            if status == 412:
                check_error(res, 412, "precondition_failed")
        head = c.ask(request("HEAD", path, [("If-None-Match", tag)]), "HEAD")
        assert head.status == 304
        missing = c.ask(request("GET", "/o/" + b3(b"never stored"), [("If-None-Match", "*")]))
        check_error(missing, 404, "not_found")


@test(sets={"storage.slab_bytes": 2 << 20}, fresh=True, asan=True)
def full_slab(node):
    """Slab full: 507 storage_full for writes, readiness degraded, reads go on, and room made by refusals comes back."""
    kept = []
    for i in range(10):
        data = rng.randbytes(512 << 10)
        res = node.http("PUT", "/o/" + b3(data), body=data)
        if res.status != 201:
            break
        kept.append(data)
    check_error(res, 507, "storage_full")
    assert 2 <= len(kept) <= 4, len(kept)
    for data in kept:
        assert node.http("GET", "/o/" + b3(data)).body == data
        assert node.http("PUT", "/o/" + b3(data), body=data).status in (200, 507)
    for _ in range(20):  # a refused body gives back what it held
        check_error(node.http("POST", "/o", body=rng.randbytes(600 << 10)), 507, "storage_full")
    eventually(lambda: node.metrics().sum("rejected_total", reason="storage_full") >= 20, 5, "storage_full counted")
    status, ready = eventually(lambda: node.readyz()[1]["degraded"] and node.readyz(), 5, "degraded")
    assert status == 200 and ready["ready"] and ready["reasons"], ready
    m = node.metrics()
    assert m.sum("storage_objects") == len(kept)
    assert m.sum("storage_chunks_capacity") == 32


@test(sets={"storage.write_from": ["10.0.0.0/8", client_ip(9) + "/32"]}, fresh=True, asan=True)
def writes_only_from_where_allowed(node):
    """storage.write_from: others read, and get 403 for a write before they send the body."""
    data = b"from an allowed address"
    check_error(node.http("POST", "/o", body=data), 403, "forbidden")
    address = node.put(data, source=client_ip(9))
    assert node.http("GET", "/o/" + address).body == data
    with node.connect() as c:
        c.send(request("POST", "/o", [("Content-Length", 1000), ("Expect", "100-continue")]))
        check_error(c.read("POST"), 403, "forbidden")
