"""millctl and the ops socket (N-4, X-16)."""
import json
import os
import re
import socket
import stat
import subprocess

from harness import BUILD, ROOT, b3, eventually, request, test

VIEWS = ("status", "queues", "lcores", "conns", "events", "doctor")


@test()
def views(node):
    """Each view: a table for people, JSON for programs, exit code 0."""
    with node.connect() as c:
        c.ask(request("GET", "/healthz"))
        for view in VIEWS:
            codes = (0, 1) if view == "doctor" else (0,)  # doctor has findings on an ordinary machine
            out = node.millctl(view, check=None)
            assert out.returncode in codes and out.stdout.strip(), (view, out)
            out = node.millctl(view, "--json", check=None)
            assert out.returncode in codes, (view, out)
            lines = out.stdout.strip().splitlines()
            assert json.loads(out.stdout) or [json.loads(line) for line in lines], view


@test()
def queues_are_the_registry(node):
    """X-1: millctl queues shows each queue of the registry with its capacity."""
    with open(os.path.join(ROOT, "config/queues.def"), encoding="utf-8") as f:
        names = re.findall(r'^QUEUE\(\w+, "([^"]+)"', f.read(), re.M)
    table, data = node.millctl("queues").stdout, json.dumps(node.millctl_json("queues"))
    for name in names:
        assert name in table, name
        assert json.dumps(name) in data, name
    assert "512" in table and "1024" in table


@test()
def conns_shows_this_connection(node):
    with node.connect() as c:
        c.ask(request("GET", "/healthz"))
        local = "%s:%d" % c.sock.getsockname()
        table = node.millctl("conns").stdout
        assert local in table
        for column in ("TCP", "RTT", "CWND", "RETRANS"):
            assert column in table.splitlines()[0].split(), table
        row = next(r for r in node.millctl_json("conns") if r["peer"] == local)
        assert row["tcp"] == "established" and row["rtt_us"] > 0 and row["cwnd_bytes"] > 0, row
        assert row["retrans"] == 0, row


@test()
def top_on_a_pipe(node):
    """top can be asked for a number of rounds, so that a script ends."""
    out = node.millctl("top", "--help", check=None)
    flag = "--count" if "--count" in out.stdout else "-n"
    out = node.millctl("top", flag, "1")
    assert out.stdout.strip()


@test()
def exit_codes(node):
    """Wrong usage is 2 with a line that helps; no node is not a crash."""
    for args in (("nonsense",), ("status", "--nonsense"), ("config",), ("config", "nonsense"), ()):
        out = node.millctl(*args, check=None)
        assert out.returncode == 2 and out.stderr.strip(), (args, out)
    assert node.millctl("--help").stdout and node.millctl("--version").stdout
    other = os.path.join(node.dir, "other.yaml")
    with open(other, "w", encoding="utf-8") as f:
        f.write(f"node:\n  name: nobody\n  run_dir: {node.dir}/nowhere\n")
    out = subprocess.run([os.path.join(BUILD, "tools/millctl"), "--config", other, "status"], capture_output=True,
                         text=True)
    assert out.returncode not in (0, 2) and "nowhere" in out.stderr, out


@test()
def socket_is_private(node):
    """N-4: directory 0700, socket 0600."""
    assert stat.S_IMODE(os.stat(node.settings["node.run_dir"]).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(node.ops_socket).st_mode) == 0o600


@test()
def socket_refuses_others(node):
    """Peer credentials: another user is refused even when the file modes would let him in."""
    path, run_dir = node.ops_socket, node.settings["node.run_dir"]
    os.chmod(node.dir, 0o755)
    os.chmod(run_dir, 0o755)
    os.chmod(path, 0o666)
    try:
        script = (
            "import os, socket, sys\nos.setgid(65534)\nos.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\n"
            "s.settimeout(5)\ns.connect(sys.argv[1])\ns.sendall(b'{\"cmd\": \"status\"}\\n')\n"
            "sys.stdout.write(s.recv(65536).decode())\n")
        out = subprocess.run(["/usr/bin/python3", "-c", script, path], capture_output=True, text=True, timeout=20)
        assert '"ok": true' not in out.stdout and '"ok":true' not in out.stdout, out
    finally:
        os.chmod(run_dir, 0o700)
        os.chmod(path, 0o600)
        os.chmod(node.dir, 0o700)


def ops(node, data, end=False):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(5)
        s.connect(node.ops_socket)
        try:
            s.sendall(data)
            if end:
                s.shutdown(socket.SHUT_WR)
        except BrokenPipeError:
            pass
        out = b""
        try:
            while not out.endswith(b"\n"):
                piece = s.recv(65536)
                if not piece:
                    break
                out += piece
        except ConnectionResetError:
            pass
        return out


@test()
def socket_is_strict(node):
    """Unknown commands and keys, bad JSON and overlong lines are refused by name; the control plane lives."""
    for bad, word in ((b'{"cmd": "nonsense"}', b"nonsense"), (b'{"cmd": "status", "x": 1}', b"x"), (b"{}", b"cmd"),
                      (b"[]", b""), (b"\xff\xfe", b""), (b'{"cmd": 5}', b"cmd"), (b"", b""),
                      (b'{"cmd": "conns", "args": {"lcore": "a"}}', b"lcore"),
                      (b'{"cmd": "conns", "args": {"lcore": 999}}', b"lcore")):
        out = ops(node, bad + b"\n")
        assert not out or (json.loads(out)["ok"] is False and word in out), (bad, out)
    out = ops(node, b"x" * 10000 + b"\n")
    assert not out or json.loads(out)["ok"] is False
    assert json.loads(ops(node, b'{"cmd": "status"}\n'))["ok"] is True
    ops(node, b'{"cmd": "sta', end=True)


@test()
def socket_takes_16_clients(node):
    """The 17th client is told, and a place that becomes free is usable."""
    held = []
    try:
        for _ in range(16):
            s = socket.socket(socket.AF_UNIX)
            s.connect(node.ops_socket)
            held.append(s)

        def refused():
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(2)
                s.connect(node.ops_socket)
                try:
                    s.sendall(b'{"cmd": "status"}\n')
                    out = s.recv(65536)
                except OSError:
                    return True
                return not out or json.loads(out.split(b"\n")[0])["ok"] is False

        eventually(refused, 5, "one more is refused")
    finally:
        for s in held:
            s.close()
    eventually(lambda: node.millctl("status", check=None).returncode == 0, 5, "free again")


@test(fresh=True)
def events_follow_and_audit(node):
    """X-16: a mutation makes exactly one audit event: who, when, what; a follower sees it as it happens."""
    argv = [os.path.join(BUILD, "tools/millctl"), "--config", node.config, "events", "--follow", "--json"]
    log = os.path.join(node.dir, "events")
    with open(log, "w", encoding="utf-8") as out:
        follower = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT)
    try:
        def text():
            with open(log, encoding="utf-8") as f:
                return f.read()

        eventually(lambda: text().strip(), 5, "the follower has begun")
        node.millctl("reload")
        eventually(lambda: text().count('"audit"') == 1, 5, "the follower sees the audit event")
        line = next(li for li in text().splitlines() if '"audit"' in li)
        assert "reload" in line and ("uid" in line or "root" in line), line
        node.millctl("status")
        node.millctl("queues")
        node.millctl("reload")
        eventually(lambda: text().count('"audit"') == 2, 5, "one more, for one more reload")
        assert follower.poll() is None
    finally:
        follower.terminate()
        follower.wait(5)
    events = json.dumps(node.millctl_json("events"))
    assert events.count('"audit"') == 2, events


@test()
def completion(node):
    """The bash completion knows the commands."""
    script = os.path.join(ROOT, "tools/millctl/millctl.bash-completion")
    probe = (f"set -eu; . {script}; spec=$(complete -p millctl); fn=${{spec#*-F }}; fn=${{fn%% *}}\n"
             'COMP_WORDS=(millctl "$1"); COMP_CWORD=1; COMP_LINE="millctl $1"; COMP_POINT=${#COMP_LINE}\n'
             '"$fn" millctl "$1" millctl; echo "${COMPREPLY[@]}"')
    for word, want in (("", "status queues lcores conns events config reload drain capture top doctor"), ("st", "status"),
                       ("re", "reload")):
        out = subprocess.run(["bash", "-c", probe, "bash", word], capture_output=True, text=True)
        have = out.stdout.split()
        assert out.returncode == 0 and set(want.split()) <= set(have), (word, out)
        assert all(h.startswith(word) for h in have), have


@test()
def doctor(node):
    """Each finding comes with the command that mends it."""
    out = node.millctl("doctor", check=None)
    for word in ("huge", "iommu", "governor", "version"):
        assert word in out.stdout.lower(), (word, out.stdout)
    out = node.millctl("doctor", "--json", check=None)
    assert json.loads(out.stdout)


@test(sets={"log.level": "debug"})
def logs_are_json_without_secrets(node):
    """X-17: JSON lines, and neither tokens nor bodies in them, even when everything is told; X-5: the corr_id is."""
    secret = "s3cr3t-" + b3(os.urandom(8))[3:20]
    node.http("POST", "/o", [("Authorization", f"Bearer {secret}")], secret.encode())
    node.http("PUT", "/o/" + b3(b"another"), [("Content-Encoding", "gzip")], secret.encode())
    with node.connect() as c:
        c.send_some(f"GET /{secret} HTTP/1.1\r\nHost: {secret}\r\nAuthorization : {secret}\r\n\r\n".encode())
        assert c.read().status == 400
    node.http("GET", "/o/x?token=" + secret, [("X-Corr-ID", "log-check")])

    def told():
        with open(node.log, encoding="utf-8") as f:
            text = f.read()
        return text if '"corr_id":"log-check"' in text else None

    text = eventually(told, 5, "the refusal is in the log")
    assert secret not in text
    for line in text.splitlines():
        record = json.loads(line)
        assert {"time", "level", "process", "msg"} <= set(record), line
