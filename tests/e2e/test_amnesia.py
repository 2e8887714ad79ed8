"""Amnesia (X-12): nothing reaches a disk."""
import os
import re
import time

from harness import Node, b3, eventually, test, tool

# Where writing is not persisting: RAM, devices and kernel interfaces.
NOT_A_DISK = ("/dev/shm/", "/dev/null", "/dev/hugepages", "/dev/tty", "/dev/pts/", "/proc/", "/sys/")
OPENED = re.compile(r'(?:openat\(\S+, |open\(|creat\()"([^"]*)"(.*)= (\d+)')
OTHER = re.compile(r'\b(mkdir|mkdirat|rename|renameat2?|link|linkat|symlink|symlinkat|truncate|mknod)\((.*)= 0')


def writable_opens(trace):
    """Paths that were opened so that bytes could be written to them."""
    for line in trace.splitlines():
        m = OPENED.search(line)
        if m and ("O_WRONLY" in m[2] or "O_RDWR" in m[2] or "O_CREAT" in m[2] or "creat(" in line):
            yield m[1]


def changed_since(started):
    """Regular files of real file systems that changed since then."""
    skip = {"/proc", "/sys", "/dev"}
    for top, dirs, files in os.walk("/"):
        dirs[:] = [d for d in dirs if os.path.join(top, d) not in skip and not os.path.islink(os.path.join(top, d))]
        for name in files:
            path = os.path.join(top, name)
            try:
                st = os.lstat(path)
            except OSError:
                continue
            if st.st_ctime >= started and (st.st_mode & 0o170000) == 0o100000:
                yield path, st.st_size


def contains(path, needle):
    try:
        with open(path, "rb") as f:
            tail = b""
            while piece := f.read(1 << 20):
                if needle in tail + piece:
                    return True
                tail = piece[-len(needle) :]
    except OSError:
        pass
    return False


@test(node=False)
def no_byte_on_disk():
    """Objects come and go, a process is killed, the node drains: no file was opened for writing outside RAM, and no
    file that changed meanwhile has a byte of what was stored."""
    started = time.time() - 1
    marker = os.urandom(24)
    trace = f"/dev/shm/millrace-trace-{os.getpid()}"
    node = Node({"amnesia.purge_interval_ms": 1000}, wrapper=[
        tool("strace"), "-f", "--seccomp-bpf", "-qq", "-s", "256", "-o", trace, "-e", "signal=none",
        "-e", "trace=open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,truncate,mknod"])
    node.log = f"/dev/shm/millrace-log-{os.getpid()}"  # where standard error goes is the operator's choice
    try:
        node.start().wait_ready(60)
        for size in (100, 65536, 1 << 20):
            data = (marker * (size // len(marker) + 1))[:size]
            address = node.put(data)
            assert node.http("GET", "/o/" + address).body == data
            node.http("PUT", "/o/" + b3(b"other"), body=data)
        eventually(lambda: node.metrics().sum("amnesia_purges_total") >= 1, 20, "the janitor has passed")
        node.millctl("reload")
        assert node.stop(60) == 0, node.logs()
        with open(trace, encoding="latin-1") as f:
            text = f.read()
        assert "openat(" in text
        allowed = NOT_A_DISK + (node.settings["node.run_dir"],)
        bad = sorted({p for p in writable_opens(text) if not p.startswith(allowed)})
        assert not bad, f"opened for writing: {bad}"
        made = [m.group(0) for m in map(OTHER.search, text.splitlines()) if m]
        made = [line for line in made if not any(a.rstrip("/") in line for a in allowed)]
        assert not made, f"made or moved: {made}"
        found = [p for p, size in changed_since(started) if size < 1 << 30 and contains(p, marker)]
        assert not found, f"the object's bytes are in {found}"
        leftover = [n for n in os.listdir("/dev/shm") if node.name in n]
        assert not leftover, leftover
    finally:
        node.cleanup()
        for path in (trace, node.log):
            if os.path.exists(path):
                os.unlink(path)
