"""Compressed request bodies and their caps (X-4)."""
import gzip
import random
import subprocess
import zlib

from harness import b3, check_error, test

rng = random.Random(3)
MIB = 1 << 20


def zstd(data, *args):
    return subprocess.run(["zstd", "-q", "-c", *args], input=data, capture_output=True, check=True).stdout


def texty(size):
    """Bytes that compress, but not beyond 10x."""
    return bytes(rng.choices(b"abcdefgh", k=size))


CODERS = {"gzip": lambda d: gzip.compress(d, 6), "deflate": lambda d: zlib.compress(d, 6), "zstd": zstd}


@test(asan=True)
def each_coding(node):
    """The digest is that of the decoded bytes; what is served is the decoded object."""
    for name, code in CODERS.items():
        for size in (0, 1, 65536, 200001):
            data = texty(size)
            res = node.http("PUT", "/o/" + b3(data), [("Content-Encoding", name)], code(data))
            assert res.status in (200, 201), (name, size, res)
            back = node.http("GET", "/o/" + b3(data))
            assert back.body == data and back.get("content-encoding") is None, (name, size)
    data = texty(100)
    for alias in ("x-gzip", "GZip"):
        res = node.http("POST", "/o", [("Content-Encoding", alias)], gzip.compress(data))
        assert res.status in (200, 201) and res.json()["address"] == b3(data), (alias, res)
    assert node.http("POST", "/o", [("Content-Encoding", "identity")], data).json()["address"] == b3(data)


@test(asan=True)
def decoded_size_at_the_cap_and_past_it(node):
    """1 MiB after decoding is stored, one byte more is 413."""
    for name, code in CODERS.items():
        data = texty(MIB)
        res = node.http("PUT", "/o/" + b3(data), [("Content-Encoding", name)], code(data))
        assert res.status == 201, (name, res)
        res = node.http("POST", "/o", [("Content-Encoding", name)], code(data + b"a"))
        check_error(res, 413, ("body_cap", "decompress_cap"))


@test(asan=True)
def bombs(node):
    """Output beyond 10x the input: 413 decompress_cap, nothing stored, the node lives."""
    for name, code in CODERS.items():
        for size in (3000, 100000, MIB, 20 * MIB):
            data = bytes(size)
            res = node.http("POST", "/o", [("Content-Encoding", name)], code(data))
            check_error(res, 413, "decompress_cap")
            if size <= MIB:
                check_error(node.http("GET", "/o/" + b3(data)), 404, "not_found")


@test(asan=True)
def stacked_and_unknown(node):
    """415 for codings we do not know or that are stacked, also when each alone would do."""
    data = texty(100)
    for value in ("br", "gzip, zstd", "gzip,gzip", "gzip, identity", "zstd, deflate", "compress", "gzip;q=1"):
        res = node.http("POST", "/o", [("Content-Encoding", value)], gzip.compress(data))
        check_error(res, 415, "unsupported_coding")
    res = node.http("POST", "/o", [("Content-Encoding", "gzip"), ("Content-Encoding", "zstd")], gzip.compress(data))
    assert res.status in (400, 415), res


@test(asan=True)
def damaged_streams(node):
    """Truncated, altered and overlong streams are 400; never a partial object."""
    data = texty(5000)
    for name, code in CODERS.items():
        whole = code(data)
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 0x55
        for bad in (whole[:-1], whole[: len(whole) // 2], whole + b"x", b"", b"not compressed", bytes(flipped)):
            res = node.http("PUT", "/o/" + b3(data), [("Content-Encoding", name)], bad)
            # a flipped bit that the format itself does not notice changes the bytes: the address does
            assert res.status in (400, 409, 413), (name, bad[:20], res)
            check_error(res, res.status, ("bad_request", "conflict", "decompress_cap"))
        check_error(node.http("GET", "/o/" + b3(data)), 404, "not_found")


@test(asan=True)
def random_streams(node):
    """Mutated compressed bodies by the hundred: always an answer, never a crash."""
    data = texty(3000)
    for name, code in CODERS.items():
        whole = code(data)
        for _ in range(60):
            bad = bytearray(whole)
            for _ in range(rng.randrange(1, 6)):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            res = node.http("POST", "/o", [("Content-Encoding", name)], bytes(bad))
            assert res.status in (200, 201, 400, 413), (name, res)
