"""Configuration from outside: check, show, diff, reload, precedence (X-7)."""
import json
import os
import signal
import subprocess

from harness import BUILD, ROOT, Node, b3, client_ip, eventually, request, running, test, yaml


def check(node, text):
    path = os.path.join(node.dir, "candidate.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path, node.millctl("config", "check", path, check=None)


@test()
def check_good(node):
    assert check(node, "http:\n  read_timeout_ms: 2000\n")[1].returncode == 0
    assert check(node, "")[1].returncode == 0
    assert node.millctl("config", "check", os.path.join(ROOT, "config/millrace.yaml")).returncode == 0


@test()
def check_bad(node):
    """A wrong value is refused with file, line, key, what was wrong and what is allowed."""
    table = [
        ("http:\n  read_timeout_ms: 5\n", 2, "read_timeout_ms", "100"),
        ("http:\n\n  read_timeout_ms: many\n", 3, "read_timeout_ms", ""),
        ("http:\n  read_timeout_ms: -1\n", 2, "read_timeout_ms", ""),
        ("http:\n  read_timeout_ms: 700000\n", 2, "read_timeout_ms", "600000"),
        ("net:\n  poll: sometimes\n", 2, "poll", "adaptive"),
        ("net:\n  listen: [nowhere]\n", 2, "listen", ""),
        ("net:\n  listen: ['127.0.0.1:99999']\n", 2, "listen", ""),
        ("node:\n  amnesia: maybe\n", 2, "amnesia", "true"),
        ("node:\n  name: 'a/b'\n", 2, "name", ""),
        ("http:\n  read_timeout: 2000\n", 2, "read_timeout", ""),
        ("htpt:\n  read_timeout_ms: 2000\n", 1, "htpt", ""),
        ("storage:\n  write_from: ['10.0.0.0/99']\n", 2, "write_from", ""),
        ("http:\n  read_timeout_ms: 2000\n  read_timeout_ms: 3000\n", 3, "read_timeout_ms", ""),
    ]
    for text, line, key, allowed in table:
        path, out = check(node, text)
        said = out.stdout + out.stderr
        assert out.returncode not in (0, None) and out.returncode < 128, (text, out)
        assert os.path.basename(path) in said and key in said and allowed in said, (text, said)
        assert f":{line}" in said or f"line {line}" in said, (text, said)
    for text in (":::", "- a\n- b\n", "http: 5\n", "\tx: 1", "a: &a [*a]\n", "http:\n  read_timeout_ms: [1, 2]\n",
                 "\xff", "x" * 300000):
        out = check(node, text)[1]
        assert 0 < out.returncode < 128 and (out.stderr + out.stdout).strip(), (text[:30], out)
    out = node.millctl("config", "check", "/nonexistent.yaml", check=None)
    assert out.returncode != 0 and "/nonexistent.yaml" in out.stderr + out.stdout


@test(node=False)
def wrong_configuration_does_not_start():
    """Fails closed: exit code 2 with the reason, from the launcher."""
    node = Node()
    try:
        for change in ("http:\n  read_timeout_ms: 5\n", "nonsense: 1\n"):
            node.write_config(change)
            out = subprocess.run([os.path.join(BUILD, "tools/millrace"), "--config", node.config], text=True,
                                 capture_output=True, timeout=20)
            assert out.returncode == 2, out
            assert "millrace.yaml" in out.stderr and ("read_timeout_ms" in out.stderr or "nonsense" in out.stderr), out
        node.write_config()
        out = subprocess.run([os.path.join(BUILD, "tools/millrace"), "--config", node.config, "--set", "http.nope=1"],
                             text=True, capture_output=True, timeout=20)
        assert out.returncode == 2 and "nope" in out.stderr, out
        env = {**os.environ, "MILLRACE_HTTP_READ_TIMEOUT_MS": "soon"}
        out = subprocess.run([os.path.join(BUILD, "tools/millrace"), "--config", node.config], text=True, env=env,
                             capture_output=True, timeout=20)
        assert out.returncode == 2 and "MILLRACE_HTTP_READ_TIMEOUT_MS" in out.stderr, out
        # valid, but not in this build: promising to persist, a back end that is not compiled in
        for setting in ("node.amnesia=false", "net.backend=fstack"):
            out = subprocess.run([os.path.join(BUILD, "tools/millrace"), "--config", node.config, "--set", setting],
                                 text=True, capture_output=True, timeout=20)
            assert out.returncode == 2 and setting.split("=")[0] + ":" in out.stderr, out
    finally:
        node.cleanup()


def shown(node, key):
    """The value and where it came from, as `config show` has it."""
    data = node.millctl_json("config", "show")
    rows = data if isinstance(data, list) else data.get("keys", data)
    for row in rows:
        name = row.get("key") or row.get("name")
        if name == key or f"{row.get('section')}.{name}" == key:
            return str(row["value"]), json.dumps(row)
    raise AssertionError(f"{key} is not shown: {rows}")


@test(node=False)
def precedence():
    """defaults < file < environment < flags, and show says which it was."""
    sets = {"http.read_timeout_ms": 2000, "http.write_timeout_ms": 2000, "http.idle_timeout_ms": 2000}
    env = {"MILLRACE_HTTP_WRITE_TIMEOUT_MS": "3000", "MILLRACE_HTTP_IDLE_TIMEOUT_MS": "3000"}
    with running(sets, env=env, args=["--set", "http.idle_timeout_ms=4000"]) as node:
        for key, value, source in (("http.deadline_ms", "5000", "default"), ("http.read_timeout_ms", "2000", "file"),
                                   ("http.write_timeout_ms", "3000", "env"), ("http.idle_timeout_ms", "4000", "flag")):
            have, row = shown(node, key)
            assert have == value and source in row, (key, row)


@test(fresh=True)
def reload_good(node):
    """A hot key applies, connections stay, an event tells."""
    with node.connect() as c, node.connect(source=client_ip(9)) as other:
        assert c.ask(request("GET", "/healthz")).status == 200
        assert other.ask(request("GET", "/healthz")).status == 200
        node.write_config(storage__write_from=[client_ip(9) + "/32"])
        assert "write_from" in node.millctl("config", "diff", check=1).stdout
        assert "write_from" in node.millctl("config", "diff", "--json", check=1).stdout
        node.millctl("reload")
        node.millctl("config", "diff", check=0)
        # on the same connections: the reload dropped none
        eventually(lambda: node.http("POST", "/o", body=b"x").status == 403, 5, "the change applies")
        assert c.ask(request("GET", "/healthz")).status == 200
        assert other.ask(request("POST", "/o", body=b"x"), "POST").status in (200, 201)
        assert shown(node, "storage.write_from")[0].find(client_ip(9)) >= 0
        node.write_config()
        os.kill(node.launcher, signal.SIGHUP)
        eventually(lambda: node.http("POST", "/o", body=b"x").status in (200, 201), 5, "SIGHUP reloads too")
        assert c.ask(request("GET", "/healthz")).status == 200
    assert "config_changed" in json.dumps(node.millctl_json("events"))


@test(fresh=True)
def reload_bad(node):
    """A bad file, or a key that needs a restart, keeps everything as it was and says why."""
    before = node.millctl("config", "show").stdout
    node.write_config(http__read_timeout_ms=1)
    out = node.millctl("reload", check=None)
    assert out.returncode not in (0, 2) and "read_timeout_ms" in out.stderr + out.stdout, out
    node.write_config(net__backlog=5000, http__read_timeout_ms=2000)
    out = node.millctl("reload", check=None)
    assert out.returncode != 0 and "net.backlog" in out.stderr + out.stdout, out
    node.write_config(yaml(node.settings) + "nonsense: [\n")  # millctl still finds the node by its section
    os.kill(node.launcher, signal.SIGHUP)
    eventually(lambda: "config_refused" in json.dumps(node.millctl_json("events")), 5, "the refusal is an event")
    assert node.millctl("config", "show").stdout == before
    assert node.put(b"still serving") == b3(b"still serving")


@test(fresh=True)
def reload_under_load(node):
    """Fifty reloads while requests flow: not one fails."""
    address = node.put(b"y" * 1000)
    with node.connect() as c:
        for i in range(50):
            node.write_config(http__idle_timeout_ms=30000 + i, log__level="debug" if i % 2 else "info")
            os.kill(node.controlplane, signal.SIGHUP)
            for _ in range(20):
                assert c.ask(request("GET", "/o/" + address)).body == b"y" * 1000
    eventually(lambda: shown(node, "http.idle_timeout_ms")[0] == "30049", 5, "the last one is in force")
