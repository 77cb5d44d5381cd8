# SPDX-License-Identifier: MIT
"""One machine for all tests here: a boot costs more than any of them. Each leaves it with no run going on and with
its drives blank; those that need the power cut come last."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import guest as machine  # noqa: E402
import image  # noqa: E402
import needs  # noqa: E402
from harness import MIB  # noqa: E402

ORDER = ("test_service", "test_refusals", "test_unplugged", "test_suspended", "test_power")

_guests = []


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: ORDER.index(item.path.stem) if item.path.stem in ORDER else -1)


def _need_vm():
    needs.need_root()
    needs.need_build()
    needs.need_programs("qemu-system-x86_64", "qemu-img", "mmdebstrap", "mke2fs")
    if image.release() is None:
        needs.missing("the guest is made of this machine's Debian, and this is another system", kernel=True)


def _disk():
    try:
        return image.cached()
    except image.Unmade as error:
        needs.missing(f"the guest's disk is not cached and cannot be made of packages: {error}")


@pytest.fixture(scope="session")
def guest():
    """The machine with plateau installed, the service started by systemd, and blank drives in it."""
    _need_vm()
    with machine.Guest(_disk()) as guest:
        _guests.append(guest)
        guest.add("target", "nvme", "TARGET", 256 * MIB)
        guest.add("victim", "nvme", "VICTIM", 256 * MIB)
        for name in ("spare1", "spare2"):
            guest.add(name, "scsi", name.upper(), 160 * MIB)
        for name in ("twin1", "twin2"):
            guest.add(name, "scsi", "TWIN", 64 * MIB)
        guest.add("kept", "nvme", "KEPT", 256 * MIB)
        guest.add("volatile", "nvme", "VOLATILE", 256 * MIB, "qcow2")
        guest.add("hostile", "scsi", "S\x1b[2J%n%s\"'\\\nE", 64 * MIB)
        guest.boot()
        guest.install_plateau()
        yield guest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        report.sections.extend(("guest", guest.story()) for guest in _guests)
