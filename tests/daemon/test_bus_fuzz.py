# SPDX-License-Identifier: MIT
"""Calls that nobody should make: every method and property with arguments of random types and values. The service
lives, answers, and starts nothing."""

import random

import pytest
from service_bus import MANAGER, NAME, ROOT, RUN, Service

CALLS = 150
SEED = 20260301  # so that what fails once fails again

PROPERTIES = "org.freedesktop.DBus.Properties"
TARGETS = (
    (ROOT, MANAGER, "StartRuns"), (ROOT, MANAGER, "GetRun"), (ROOT, MANAGER, "ListRuns"), (ROOT, MANAGER, "Nothing"),
    (ROOT, PROPERTIES, "Get"), (ROOT, PROPERTIES, "Set"), (ROOT, PROPERTIES, "GetAll"),
    (ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"),
    (ROOT, "org.freedesktop.DBus.Introspectable", "Introspect"),
    (f"{ROOT}/run/1", RUN, "Stop"), (f"{ROOT}/run/1", RUN, "Pause"), (f"{ROOT}/run/4294967296", RUN, "Resume"),
    (f"{ROOT}/run/1", PROPERTIES, "Get"), (f"{ROOT}/run/_2d1", RUN, "Stop"), (f"{ROOT}/run", RUN, "Stop"),
    ("/", MANAGER, "StartRuns"),
)  # fmt: skip

STRINGS = (
    "", "last", "0", "-1", "4294967296", "18446744073709551616", "%n%s%n", "'; DROP TABLE runs; --", "\x1b[2J\x07",
    "a\nb", "/dev/null", "/dev/zero", "/dev/../etc/passwd", "/", "/proc/self/mem", "\u202e\u2066", "\ufffd",
    "x" * 100000, "[a]\nrw=randwrite\n", "[a]\nrw=write\nsize=18446744073709551615\n", "[a]\n" * 2000, MANAGER, RUN,
    "State", "DatabasePath",
)  # fmt: skip
START = "ssasasa{sv}"


def value(rng: random.Random, kind: str) -> list[str]:
    if kind == "b":
        return [rng.choice(("true", "false"))]
    if kind in "so":
        return [rng.choice(STRINGS) if kind == "s" else rng.choice(("/", ROOT, "/a/b"))]
    if kind == "d":
        return [rng.choice(("0", "nan", "-inf", "1e308"))]
    low, high = {"y": (0, 255), "n": (-(2**15), 2**15 - 1), "u": (0, 2**32 - 1), "x": (-(2**63), 2**63 - 1),
                 "t": (0, 2**64 - 1)}[kind]  # fmt: skip
    return [str(rng.choice((low, high, 0 if low <= 0 else low, rng.randint(low, high))))]


def strings(rng: random.Random) -> list[str]:
    n = rng.choice((0, 1, 3, 100))
    return [str(n), *(rng.choice(STRINGS[:-10]) for _ in range(n))]


def variants(rng: random.Random) -> list[str]:
    n = rng.randint(0, 3)
    result = [str(n)]
    for _ in range(n):
        kind = rng.choice("sbuxd")
        result += [rng.choice(("erase-existing", "label", "nothing", "")), kind, *value(rng, kind)]
    return result


def arguments(rng: random.Random) -> list[str]:
    """A signature and what belongs to it, as busctl reads them."""
    if rng.random() < 0.4:
        job = rng.choice(STRINGS)
        return [START, "--", rng.choice(STRINGS), job, *strings(rng), *strings(rng), *variants(rng)]
    signature = "".join(rng.choice("sybnuxtdo") for _ in range(rng.randint(0, 4)))
    if not signature:
        return []
    return [signature, "--", *(part for kind in signature for part in value(rng, kind))]


@pytest.fixture(scope="module")
def after(shared_service):
    """The service after all these calls, and how many were refused."""
    rng, bus, refused = random.Random(SEED), Service(shared_service), 0
    for _ in range(CALLS):
        done = bus.busctl("call", NAME, *rng.choice(TARGETS), *arguments(rng))
        refused += done.returncode != 0
        assert shared_service.process.poll() is None, done
    return shared_service, bus, refused


def test_service_lives_and_answers(after):
    service, bus, _ = after
    assert service.process.poll() is None
    assert bus.get(ROOT, MANAGER, "DatabaseState") == "ok"


def test_nearly_all_is_refused(after):
    assert after[2] > CALLS / 2


def test_nothing_is_started(after):
    service, bus, _ = after
    service.wait_workers(0)
    assert bus.get(ROOT, MANAGER, "NRunning") == 0


def test_log_is_one_line_each_and_clean(after):
    assert not [line for line in after[0].log().splitlines() if not line.isprintable()]
