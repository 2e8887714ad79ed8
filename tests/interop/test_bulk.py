"""Much data, whole and through loss: every byte is compared."""
import time

from harness import test
from link import Objects, addr6, link

OBJECTS = 100


def bulk(addr, seed, conns=4):
    """200 MiB in all: 100 MiB there and 100 MiB back (--long: twice that)."""
    objects = Objects(OBJECTS * (2 if link.is_long else 1), seed)
    started = time.monotonic()
    objects.transfer(addr, conns, get=False)
    middle = time.monotonic()
    objects.transfer(addr, conns, put=False)
    done = time.monotonic()
    size = len(objects.all)
    print(f"     up {size / (middle - started):.0f} MiB/s, down {size / (done - middle):.0f} MiB/s")


@test()
def clean(node):
    bulk(node.addr, 1)


@test()
def clean_ipv6(node):
    bulk(addr6(node), 2)


@test()
def loss_1_percent(node):
    with link.loss(1):
        bulk(node.addr, 3, conns=16)


@test()
def loss_5_percent(node):
    with link.loss(5):
        bulk(node.addr, 4, conns=16)


@test()
def loss_5_percent_ipv6(node):
    with link.loss(5):
        Objects(20, 5).transfer(addr6(node))
