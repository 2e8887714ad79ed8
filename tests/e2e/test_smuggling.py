"""Requests that two parsers could read differently are refused, and nothing behind them is answered (X-19)."""
from harness import b3, check_error, eventually, request, test
from wire import Closed

SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Corr-ID: smuggled\r\n\r\n"


def post(fields, body, line="POST /o HTTP/1.1", host="Host: a\r\n"):
    return (line + "\r\n" + host).encode("latin-1") + fields + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"0\r\n\r\n"

# name, bytes, statuses allowed
SHAPES = [
    ("length beside chunked", post(b"Content-Length: 5\r\n" + CHUNKED, END), (400,)),
    ("chunked beside length", post(CHUNKED + b"Content-Length: 5\r\n", END), (400,)),
    ("two lengths", post(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello"), (400,)),
    ("the same length twice", post(b"Content-Length: 5\r\nContent-Length: 5\r\n", b"hello"), (400,)),
    ("list of lengths", post(b"Content-Length: 5, 5\r\n", b"hello"), (400,)),
    ("signed length", post(b"Content-Length: +5\r\n", b"hello"), (400,)),
    ("negative length", post(b"Content-Length: -5\r\n", b"hello"), (400,)),
    ("hex length", post(b"Content-Length: 0x5\r\n", b"hello"), (400,)),
    ("length with space", post(b"Content-Length: 5 5\r\n", b"hello"), (400,)),
    ("empty length", post(b"Content-Length: \r\n", b"hello"), (400,)),
    ("overflowing length", post(b"Content-Length: 18446744073709551621\r\n", b"hello"), (400, 413)),
    ("space before colon", post(b"Content-Length : 5\r\n", b"hello"), (400,)),
    ("tab before colon", post(b"Transfer-Encoding\t: chunked\r\n", END), (400,)),
    ("space before first field", post(b" Content-Length: 5\r\n", b"hello"), (400,)),
    ("folded field", post(b"X: a\r\n Content-Length: 5\r\n", b"hello"), (400,)),
    ("folded with tab", post(b"X: a\r\n\tb\r\n", b""), (400,)),
    ("folded coding", post(b"Transfer-Encoding:\r\n chunked\r\n", END), (400, 501)),
    ("bare LF after the line", b"POST /o HTTP/1.1\nHost: a\r\n\r\n", (400,)),
    ("bare LF in fields", post(b"X: a\nContent-Length: 5\r\n", b"hello"), (400,)),
    ("bare LF at the end", b"GET /o HTTP/1.1\r\nHost: a\n\n", (400,)),
    ("bare CR in a value", post(b"X: a\rContent-Length: 5\r\n", b"hello"), (400,)),
    ("bare CR in the line", b"GET /o\r HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("NUL in a value", post(b"X: a\0b\r\n", b""), (400,)),
    ("NUL in a name", post(b"X\0: a\r\n", b""), (400,)),
    ("control byte in a value", post(b"X: a\x01b\r\n", b""), (400,)),
    ("empty name", post(b": a\r\n", b""), (400,)),
    ("no colon", post(b"Nothing\r\n", b""), (400,)),
    ("bad name", post(b"X(Y): a\r\n", b""), (400,)),
    ("high byte in a name", post(b"X\xe9: a\r\n", b""), (400,)),
    ("chunked twice", post(b"Transfer-Encoding: chunked, chunked\r\n", END), (400, 501)),
    ("chunked in two fields", post(CHUNKED + CHUNKED, END), (400, 501)),
    ("gzip, chunked", post(b"Transfer-Encoding: gzip, chunked\r\n", END), (400, 501)),
    ("chunked not last", post(b"Transfer-Encoding: chunked, gzip\r\n", END), (400, 501)),
    ("identity", post(b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n", b"hello"), (400, 501)),
    ("quoted coding", post(b'Transfer-Encoding: "chunked"\r\n', END), (400, 501)),
    ("xchunked", post(b"Transfer-Encoding: xchunked\r\n", END), (400, 501)),
    ("chunked with vertical tab", post(b"Transfer-Encoding: \x0bchunked\r\n", END), (400, 501)),
    ("chunked with a parameter", post(b"Transfer-Encoding: chunked;x=y\r\n", END), (400, 501)),
    ("empty coding", post(b"Transfer-Encoding: \r\n", END), (400, 501)),
    ("chunked in HTTP/1.0", post(CHUNKED, END, line="POST /o HTTP/1.0"), (400, 501)),
    ("chunk size with sign", post(CHUNKED, b"+5\r\nhello\r\n" + END), (400,)),
    ("chunk size with 0x", post(CHUNKED, b"0x5\r\nhello\r\n" + END), (400,)),
    ("chunk size with a space", post(CHUNKED, b" 5\r\nhello\r\n" + END), (400,)),
    ("empty chunk size", post(CHUNKED, b"\r\nhello\r\n" + END), (400,)),
    ("overflowing chunk size", post(CHUNKED, b"10000000000000005\r\nhello\r\n" + END), (400, 413)),
    ("bare LF after a chunk size", post(CHUNKED, b"5\nhello\r\n" + END), (400,)),
    ("bare LF after chunk data", post(CHUNKED, b"5\r\nhello\n" + END), (400,)),
    ("chunk data too long", post(CHUNKED, b"5\r\nhelloXX\r\n" + END), (400,)),
    ("bare LF in an extension", post(CHUNKED, b"5;a\nhello\r\n" + END), (400,)),
    ("long extension", post(CHUNKED, b"5;" + b"a" * 300 + b"\r\nhello\r\n" + END), (400,)),
    ("folded trailer", post(CHUNKED, b"0\r\nX: a\r\n b\r\n\r\n"), (400,)),
    ("bad trailer", post(CHUNKED, b"0\r\nX : a\r\n\r\n"), (400,)),
    ("no host", post(b"", b"", host=""), (400,)),
    ("two hosts", post(b"Host: b\r\n", b""), (400,)),
    ("bad host", post(b"", b"", host="Host: a b\r\n"), (400,)),
    ("host with userinfo", post(b"", b"", host="Host: u@a\r\n"), (400,)),
    ("two spaces in the line", b"GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("tab in the line", b"GET\t/healthz HTTP/1.1\r\nHost: a\r\n\r\n", (400, 501)),
    ("space in the target", b"GET /o /x HTTP/1.1\r\nHost: a\r\n\r\n", (400, 505)),
    ("trailing space in the line", b"GET /healthz HTTP/1.1 \r\nHost: a\r\n\r\n", (400, 505)),
    ("no target", b"GET HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("no version", b"GET /healthz\r\nHost: a\r\n\r\n", (400, 505)),
    ("lower-case version", b"GET /healthz http/1.1\r\nHost: a\r\n\r\n", (400, 505)),
    ("long version", b"GET /healthz HTTP/1.10\r\nHost: a\r\n\r\n", (400, 505)),
    ("relative target", b"GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("fragment", b"GET /healthz#x HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("NUL in the target", b"GET /healthz\0 HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("high byte in the target", b"GET /healthz\xff HTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
    ("CONNECT", b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", (400, 405, 501)),
    ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)),
    ("TLS hello", bytes.fromhex("16030100c8010000c40303") + b"x" * 200, (400,)),
]


@test(asan=True)
def shapes(node):
    """Each shape: one error answer, a close, and not a byte more, with a second request smuggled behind it."""
    wrong = []
    for name, shape, statuses in SHAPES:
        with node.connect() as c:
            try:
                c.send_some(shape + SMUGGLED)
                res = c.read("POST")
                assert res.status in statuses, f"{res!r}"
                check_error(res, res.status, res.json()["error"])
                assert res.closed, f"no Connection: close: {res!r}"
                c.expect_close()
            except (AssertionError, Closed, OSError) as e:
                wrong.append(f"{name}: {e!r}")
    assert not wrong, "\n".join(wrong)
    eventually(lambda: node.metrics().sum("rejected_total", reason="malformed") > 30, 5, "malformed counted")


@test(asan=True)
def body_on_get_does_not_desync(node):
    """A GET with a body is read to the end or refused with a close; the body is never taken for a request."""
    for path in ("/healthz", "/o/" + node.put(b"some object"), "/nowhere"):
        with node.connect() as c:
            c.send_some(request("GET", path, body=SMUGGLED) + request("GET", "/version"))
            first = c.read()
            if first.closed:
                c.expect_close()
                continue
            second = c.read()
            assert "version" in second.json(), (path, first, second)


@test(asan=True)
def refused_body_is_not_a_request(node):
    """After a refusal that leaves a body unread, that body is not answered."""
    body = SMUGGLED * 20
    for head in (request("DELETE", "/o/" + b3(b"x"), [("Content-Length", len(body))]),
                 request("POST", "/nowhere", [("Content-Length", len(body))]),
                 request("POST", "/o", [("Content-Length", len(body)), ("Content-Encoding", "br")]),
                 request("PUT", "/o/b3:bad", [("Content-Length", len(body))])):
        with node.connect() as c:
            c.send_some(head + body)
            res = c.read("POST")
            assert 400 <= res.status < 500, res
            if res.closed:
                c.expect_close()
            else:
                res = c.ask(request("GET", "/version", [("X-Corr-ID", "after")]))
                assert "version" in res.json(), res
