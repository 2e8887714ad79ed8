"""Servers to compare with, tuned, each in a directory of its own; and the load generator."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from harness import children, free_port

SERVER_CPU, CLIENT_CPU = 0, 1

NGINX = """
user root;
worker_processes 1;
daemon off;
pid {dir}/nginx.pid;
error_log stderr error;
worker_rlimit_nofile 20000;
events {{ worker_connections 16384; use epoll; multi_accept on; }}
http {{
	access_log off;
	sendfile on;
	tcp_nopush {nopush};
	tcp_nodelay on;
	keepalive_timeout 65;
	keepalive_requests 1000000000;
	open_file_cache max=1000 inactive=10m;
	open_file_cache_valid 10m;
	client_body_temp_path {dir}/body;
	proxy_temp_path {dir}/proxy;
	fastcgi_temp_path {dir}/fastcgi;
	uwsgi_temp_path {dir}/uwsgi;
	scgi_temp_path {dir}/scgi;
	server {{ listen {address}:{port} backlog=4096; root {dir}/html; }}
}}
"""


def wait_port(port, process, address):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection((address, port), 1).close()
            return
        time.sleep(0.02)
    raise RuntimeError("the peer did not start")


@contextlib.contextmanager
def nginx(body, nopush, address="127.0.0.1"):
    """One worker on the server CPU, a static file; gives (URL, command, process id of the worker)."""
    path = tempfile.mkdtemp(prefix="mr-nginx-")
    port = free_port()
    os.mkdir(os.path.join(path, "html"))
    with open(os.path.join(path, "html/object"), "wb") as f:
        f.write(body)
    with open(os.path.join(path, "nginx.conf"), "w", encoding="utf-8") as f:
        f.write(NGINX.format(dir=path, address=address, port=port, nopush="on" if nopush else "off"))
    argv = ["taskset", "-c", str(SERVER_CPU), "nginx", "-p", path, "-c", os.path.join(path, "nginx.conf")]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_port(port, process, address)
        command = " ".join(argv[:4]) + f" (tcp_nopush {'on' if nopush else 'off'})"
        yield f"http://{address}:{port}/object", command, children(process.pid)[0]
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(path, ignore_errors=True)


WRK = ["taskset", "-c", str(CLIENT_CPU), "wrk", "-t1", "-c64", "--latency"]


def cpu_s(pid):
    """CPU time a process has used so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(url, seconds, server_pid, wrapper=()):
    """One run, started by way of wrapper: {'rps', 'cpu_us' per request, 'p50_us', 'p99_us', 'errors'}."""
    before = cpu_s(server_pid)
    out = subprocess.run([*wrapper, *WRK] + [f"-d{seconds}s", url], capture_output=True, text=True, timeout=seconds + 30)
    text = out.stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", text)
    if not found:
        raise RuntimeError(f"wrk failed: {text}{out.stderr}")
    return {
        "rps": float(found[1]),
        "cpu_us": (cpu_s(server_pid) - before) * 1e6 / int(re.search(r"(\d+) requests in", text)[1]),
        "p50_us": to_us(re.search(r"50%\s+([\d.]+)(us|ms|s)", text)),
        "p99_us": to_us(re.search(r"99%\s+([\d.]+)(us|ms|s)", text)),
        "errors": "Socket errors" in text or "Non-2xx" in text,
    }


def to_us(m):
    return float(m[1]) * {"us": 1, "ms": 1e3, "s": 1e6}[m[2]] if m else None
