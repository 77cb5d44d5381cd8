# SPDX-License-Identifier: MIT
"""Fixtures of the device, daemon and command tests; see harness.py for what they hand out."""

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import harness  # noqa: E402
import needs  # noqa: E402


def pytest_configure(config):
    # So that a test run that is told to go still removes its devices; in the background SIGINT itself is ignored.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture
def loop():
    """Makes loop devices: loop(size, sector=512)."""
    needs.need_loop()
    yield from _devices(harness.LoopDevice)


@pytest.fixture
def nbd():
    """Makes drives that can be slowed, failed and hung: nbd(size)."""
    needs.need_nbd()
    yield from _devices(harness.NbdDevice)


@pytest.fixture
def ssd():
    """Makes simulated flash drives: ssd(size, iops=1000, …)."""
    needs.need_ssdsim()
    yield from _devices(harness.SsdSim)


@pytest.fixture
def zram():
    needs.need_zram()
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
    needs.need_service()
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
    needs.need_service()
    with harness.Plateaud() as service:
        yield service


@pytest.fixture
def make_service():
    """Makes services: make_service(watchdog_s=…, start=False, …)."""
    needs.need_service()
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
    needs.need_build()
    return harness.Cli()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        for name, log in harness.service_logs():
            report.sections.append((f"log of {name}", log[-8000:] or "(empty)"))
