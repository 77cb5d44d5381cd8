# SPDX-License-Identifier: MIT
"""Fixtures of the device, daemon and command tests; see harness.py for what they hand out."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import harness  # noqa: E402


def pytest_configure(config):
    # So that a test run that is told to go still removes its devices.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def missing(reason: str, kernel: bool = False):
    """Skips the test. As root in CI everything can be had but what this kernel lacks, so there it is a failure."""
    if os.environ.get("CI") == "true" and os.geteuid() == 0 and not kernel:
        pytest.fail(f"in CI nothing may be missing: {reason}")
    pytest.skip(reason)


def need_programs(*names: str):
    for name in names:
        if not shutil.which(name):
            missing(f"{name} is not installed")


def need_root():
    if os.geteuid() != 0:
        missing("needs root")


def need_build():
    if not (harness.BUILD / "daemon" / "plateaud").exists():
        missing(f"nothing is built in {harness.BUILD} (PLATEAU_BUILD)")


def need_loop():
    need_root()
    need_programs("losetup")
    if not os.path.exists("/dev/loop-control"):
        missing("this kernel has no loop devices", kernel=True)


def need_nbd():
    need_loop()
    need_programs("nbdkit", "nbdfuse", "fusermount3")
    if not os.path.exists("/dev/fuse"):
        missing("this kernel has no FUSE", kernel=True)


def need_zram():
    need_root()
    if not os.path.exists("/sys/block/zram0") and not harness.ZramDevice.CONTROL.exists():
        missing("this kernel has no zram", kernel=True)


@pytest.fixture
def loop():
    """Makes loop devices: loop(size, sector=512)."""
    need_loop()
    yield from _devices(harness.LoopDevice)


@pytest.fixture
def nbd():
    """Makes drives that can be slowed, failed and hung: nbd(size)."""
    need_nbd()
    yield from _devices(harness.NbdDevice)


@pytest.fixture
def zram():
    need_zram()
    yield from _devices(harness.ZramDevice)


def _devices(kind):
    made = []

    def make(*args, **options):
        made.append(kind(*args, **options))
        return made[-1]

    try:
        yield make
    finally:
        try:
            for device in made:
                device.release()
            harness.end_runs()
        finally:
            for device in reversed(made):
                device.close()


@pytest.fixture(scope="session")
def shared_service():
    need_build()
    need_programs("dbus-daemon")
    with harness.Plateaud() as service:
        yield service


@pytest.fixture
def service(shared_service):
    """A running service that other tests use too: do not stop it."""
    if shared_service.process.poll() is not None:
        pytest.fail(f"the shared plateaud is gone: {shared_service.process.returncode}\n{shared_service.log()}")
    return shared_service


@pytest.fixture
def own_service():
    """A running service of the test's own, to be stopped and killed."""
    need_build()
    need_programs("dbus-daemon")
    with harness.Plateaud() as service:
        yield service


@pytest.fixture
def make_service():
    """Makes services: make_service(watchdog_s=…, start=False, …)."""
    need_build()
    need_programs("dbus-daemon")
    made = []

    def make(**options):
        made.append(harness.Plateaud(**options))
        return made[-1]

    try:
        yield make
    finally:
        for service in reversed(made):
            service.close()


@pytest.fixture
def cli():
    """The command without any service: query verbs, bad usage."""
    need_build()
    return harness.Cli()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        for name, log in harness.service_logs():
            report.sections.append((f"log of {name}", log[-8000:] or "(empty)"))
