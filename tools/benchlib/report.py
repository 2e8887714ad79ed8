"""What a run looked like: the machine, the table, the raw file."""
import json
import os
import platform
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def first_line(*argv):
    try:
        out = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT)
        return (out.stdout + out.stderr).strip().splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine():
    cpu = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": cpu,
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "commit": first_line("git", "describe", "--always", "--dirty"),
        "compiler": first_line("gcc", "--version"),
        "date": time.strftime("%Y-%m-%d"),
    }


def keep(name, result):
    path = os.path.join(ROOT, "build/bench")
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name + ".json"), "w", encoding="utf-8") as f:
        json.dump({"suite": name, "machine": machine(), **result}, f, indent=1)
        f.write("\n")


def missing(key, why):
    print(f"bench: {key} is left out: {why}", file=sys.stderr, flush=True)


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def table(name, result):
    m = machine()
    print(f"suite {name}: {m['cpus']} x {m['cpu']}, Linux {m['kernel']}, {m['commit']}, {m['date']}\n")
    print(f"{'what':<34} {'value':>12}  {'target':>8}  how")
    for key, r in result["ratios"].items():
        sign = "<=" if key in result["at_most"] else ">="
        print(f"{key:<34} {r['value']:>12.3f}  {sign} {r['target']:<6} {result['notes'].get(key, '')}")
    for key, (value, note) in result["extra"].items():
        print(f"{key:<34} {value:>12}  {'':>8}  {note}")
    print("\ncommands:")
    for line in result["commands"]:
        print(f"  {line}")
    print(f"raw results: build/bench/{name}.json\n")
