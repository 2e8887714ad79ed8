#!/usr/bin/env python3
"""N-5: the alert rules and the dashboard are right PromQL over metrics and labels that exist.

Usage: observe_test.py SOURCE-ROOT
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What Prometheus itself adds to every series, or computes.
OTHERS = {"up": set(), "ALERTS": set()}
COMMON = {"job", "instance", "le"}
EXTRA = {"build_info": {"version", "commit"}, "process_up": {"process"}}
METRIC = re.compile(r'^METRIC\(\w+, (\w+), "(\w+)", (\w+), (\w+), (\w+), (\w+),', re.M)


def registry(root):
    """Name of each series -> its labels."""
    series = dict(OTHERS)
    with open(f"{root}/config/metrics.def", encoding="utf-8") as source:
        for kind, name, scope, *sets in METRIC.findall(source.read()):
            labels = {s.lower() for s in sets if s != "NONE"} | EXTRA.get(name, set())
            if scope == "PER_SLOT":
                labels.add("lcore")
            for suffix in ["_bucket", "_sum", "_count"] if kind == "HISTOGRAM" else [""]:
                series[name + suffix] = labels
    return series


def unknown(expr, series):
    """What an expression names that no series has."""
    found = []
    text = re.sub(r'"[^"]*"', '""', expr)
    used = set()
    for name, labels in re.findall(r"([a-z_]\w*)\s*\{([^}]*)\}", text):
        if name not in series:
            found.append(name)
            continue
        used |= series[name]
        for label in re.findall(r"(\w+)\s*[=!]", labels):
            if label not in series[name] | COMMON:
                found.append(f"{name}{{{label}}}")
    for group in re.findall(r"by \(([^)]*)\)", text):
        found += [f"by ({g})" for g in re.split(r",\s*", group) if g not in used | COMMON]
    if not used and not re.search(r"\b(up|ready|degraded|build_info|storage_\w+)\b", text):
        found.append(f"no known series in {expr}")
    return found


def rule_expressions(root):
    """The expr of each rule, on one line or as an indented block."""
    with open(f"{root}/config/alerts.yml", encoding="utf-8") as source:
        text = source.read()
    return [a or b for a, b in re.findall(r"^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)", text, re.M)]


def panel_expressions(root):
    with open(f"{root}/config/grafana-dashboard.json", encoding="utf-8") as source:
        board = json.load(source)
    return [t["expr"] for p in board["panels"] for t in p["targets"]]


def names_exist(expressions, series):
    wrong = [f"{expr.strip()}: {u}" for expr in expressions for u in unknown(expr, series)]
    return "\n".join(wrong) if expressions else "no expressions found"


def promtool(*args):
    run = subprocess.run(["promtool", *args], capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def panels_parse(expressions, directory):
    path = f"{directory}/panels.yml"
    with open(path, "w", encoding="utf-8") as out:
        out.write("groups:\n  - name: panels\n    rules:\n")
        for i, expr in enumerate(expressions):
            expr = expr.replace("$__rate_interval", "1m").replace("$instance", ".*")
            out.write(f"      - record: panel_{i}\n        expr: {json.dumps(expr)}\n")
    return promtool("check", "rules", path)


def alerts_fire(root, directory):
    path = f"{directory}/alerts_test.yml"
    with open(f"{root}/tests/unit/config/alerts_test.yml", encoding="utf-8") as source:
        text = source.read().replace("[RULES]", f"[{root}/config/alerts.yml]")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return promtool("test", "rules", path)


def main():
    root = os.path.abspath(sys.argv[1])
    series = registry(root)
    rules, panels = rule_expressions(root), panel_expressions(root)
    with tempfile.TemporaryDirectory() as directory:
        tests = [
            ("alert rules name known metrics", False, lambda: names_exist(rules, series)),
            ("panels name known metrics", False, lambda: names_exist(panels, series)),
            ("alert rules parse", True, lambda: promtool("check", "rules", f"{root}/config/alerts.yml")),
            ("panels parse", True, lambda: panels_parse(panels, directory)),
            ("alerts fire when they should", True, lambda: alerts_fire(root, directory)),
        ]
        passed = failed = skipped = 0
        for name, needs_promtool, test in tests:
            if needs_promtool and not shutil.which("promtool"):
                print(f"SKIP {name}: promtool is not installed")
                skipped += 1
                continue
            trouble = test()
            passed, failed = passed + (not trouble), failed + bool(trouble)
            if trouble:
                print(f"FAILED {name}:\n{trouble}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


sys.exit(main())
