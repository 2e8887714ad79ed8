"""The client side of the tests: raw connections, a strict response reader, metrics.

Nothing here is lenient: an answer that a careful client would stumble over fails the test that got it.
"""
import json
import re
import socket
import time

STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5]\d\d) [\x20-\x7e]*")
FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\x20-\x7e]*)")
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


class Closed(Exception):
    """The peer closed (or reset) before a whole answer came."""


class Response:
    def __init__(self, status, fields, body, closed):
        self.status = status
        self.fields = fields
        self.body = body
        self.closed = closed

    def get(self, name, default=None):
        """The one value of a field; a repeated field is an error."""
        values = [v for n, v in self.fields if n == name.lower()]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else default

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:80]!r}>"


class Conn:
    """One TCP connection with a reader that remembers what it has not used yet."""

    def __init__(self, sock, timeout=10):
        self.sock = sock
        self.sock.settimeout(timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buf = b""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def send_some(self, data):
        """Sends what the server is willing to take; it may have answered and closed already."""
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def end(self):
        """Half-closes: nothing more will be sent."""
        self.sock.shutdown(socket.SHUT_WR)

    def _fill(self):
        try:
            data = self.sock.recv(262144)
        except ConnectionResetError as e:
            raise Closed("reset") from e
        if not data:
            raise Closed("closed")
        self.buf += data

    def _until(self, mark):
        while mark not in self.buf:
            self._fill()
        out, self.buf = self.buf.split(mark, 1)
        return out

    def _exactly(self, n):
        while len(self.buf) < n:
            self._fill()
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def _chunked(self):
        body = b""
        while True:
            line = self._until(b"\r\n")
            assert re.fullmatch(rb"[0-9a-fA-F]+", line), f"chunk line {line!r}"
            size = int(line, 16)
            body += self._exactly(size)
            assert self._exactly(2) == b"\r\n"
            if size == 0:
                return body

    def read(self, method="GET"):
        """Reads one answer, strictly."""
        head = self._until(b"\r\n\r\n").split(b"\r\n")
        status = STATUS_LINE.fullmatch(head[0])
        assert status, f"status line {head[0]!r}"
        code = int(status[1])
        fields = []
        for line in head[1:]:
            m = FIELD.fullmatch(line)
            assert m, f"field line {line!r}"
            fields.append((m[1].decode().lower(), m[2].decode().strip()))
        res = Response(code, fields, b"", False)
        res.closed = "close" in (res.get("connection") or "").lower()
        length, coding = res.get("content-length"), res.get("transfer-encoding")
        assert length is None or coding is None, "Content-Length beside Transfer-Encoding"
        if method == "HEAD" or code in (204, 304) or code < 200:
            return res
        if coding is not None:
            assert coding == "chunked", coding
            res.body = self._chunked()
        else:
            assert length is not None and length.isdigit(), f"no length in {res!r}"
            res.body = self._exactly(int(length))
        return res

    def ask(self, data, method="GET"):
        self.send(data)
        return self.read(method)

    def expect_close(self, timeout=5):
        """The peer must close now, and must not have said anything more."""
        self.sock.settimeout(timeout)
        try:
            while True:
                data = self.sock.recv(65536)
                if not data:
                    break
                self.buf += data
        except ConnectionResetError:
            pass
        assert self.buf == b"", f"bytes after the last answer: {self.buf[:200]!r}"


def request(method, target, fields=(), body=None, host="localhost", version="HTTP/1.1"):
    """A well-formed request; Content-Length is added when there is a body."""
    lines = [f"{method} {target} {version}", f"Host: {host}"]
    lines += [f"{n}: {v}" for n, v in fields]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")


def chunked(body, size):
    out = b""
    for i in range(0, len(body), size):
        piece = body[i : i + size]
        out += b"%x\r\n%s\r\n" % (len(piece), piece)
    return out + b"0\r\n\r\n"


def check_error(res, status, code, corr_id=None):
    """Every error answer is the JSON of X-5."""
    assert res.status == status, f"want {status} {code}, got {res!r}"
    assert (res.get("content-type") or "").startswith("application/json"), res
    body = res.json()
    assert set(body) == {"error", "message", "corr_id"}, body
    codes = code if isinstance(code, tuple) else (code,)
    assert body["error"] in codes, f"want {code}, got {body}"
    assert body["message"], body
    assert body["corr_id"] and res.get("x-corr-id") == body["corr_id"], res
    if corr_id is not None:
        assert body["corr_id"] == corr_id, body
    if status in (429, 503):
        assert (res.get("retry-after") or "").isdigit(), res


class Metrics:
    """One scrape."""

    def __init__(self, text):
        self.text = text
        self.samples = []
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            m = SAMPLE.fullmatch(line)
            assert m, f"metrics line {line!r}"
            self.samples.append((m[1], dict(LABEL.findall(m[2] or "")), float(m[3])))

    def names(self):
        return {name for name, _, _ in self.samples}

    def find(self, metric, **labels):
        return [
            (have, value)
            for name, have, value in self.samples
            if name == metric and all(have.get(k) == v for k, v in labels.items())
        ]

    def sum(self, metric, **labels):
        return sum(value for _, value in self.find(metric, **labels))


def eventually(check, timeout=10, what="condition", step=0.02):
    """Polls until check() is true (its value is returned) or time is up. AssertionErrors and Closed count as false."""
    deadline = time.monotonic() + timeout
    last = None
    while True:
        try:
            value = check()
            if value:
                return value
            last = value
        except (AssertionError, OSError, Closed) as e:
            last = e
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what} (last: {last!r})")
        time.sleep(step)
