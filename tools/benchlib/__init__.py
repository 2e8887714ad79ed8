"""The suites of tools/bench: one module each, with run(quick) -> a dictionary:

ratios    {key: {"value", "target"}}: what the issue asks for
at_most   the keys whose target is an upper bound
notes     {key: how it was measured}
extra     {name: (value, note)}: more to read
raw       every single run
commands  what was started
"""
