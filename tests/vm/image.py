# SPDX-License-Identifier: MIT
"""The disk that guests start from: Debian with systemd, of the release of this machine, for whose libraries plateau
was built. Made once and kept in the user's cache under a hash of what it is made of; plateau itself is not in it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

# systemd and what it needs to be a machine; the tests' means of using a drive; what plateau is linked with.
PACKAGES = """
    dbus kmod linux-image-amd64 qemu-guest-agent systemd-sysv udev
    btrfs-progs cryptsetup-bin e2fsprogs fdisk lvm2 mdadm mount procps util-linux
    libblkid1 libcairo2 libjson-c5 libseccomp2 libsmartcols1 libsqlite3-0 libsystemd0 liburing2 sqlite3
""".split()

# Drivers that no guest has use for are two thirds of a kernel package.
EXCLUDED = [
    *(f"/usr/share/{name}/*" for name in ("doc", "info", "locale", "man")),
    *(f"/lib/modules/*/kernel/drivers/{name}/*" for name in ("gpu", "iio", "infiniband", "media", "net", "staging")),
    "/lib/modules/*/kernel/sound/*",
]

# On an emulated processor each process counts. So the initrd finds the root without udev, nothing waits for a login or
# looks for updates, and what a test never asks for is not started.
ESSENTIAL_HOOK = 'mkdir -p "$1/etc/initramfs-tools/conf.d" && echo MODULES=list >"$1/etc/initramfs-tools/conf.d/guest"'
CUSTOMIZE_HOOK = r"""
    set -e
    printf '%s\n' virtio_pci virtio_blk ext4 >>"$1/etc/initramfs-tools/modules"
    cd "$1/usr/share/initramfs-tools"
    rm -f hooks/udev hooks/mdadm hooks/lvm2 hooks/btrfs scripts/*/udev scripts/*/mdadm scripts/*/lvm2 scripts/*/btrfs
    chroot "$1" update-initramfs -u
    echo guest >"$1/etc/hostname"
    : >"$1/etc/machine-id"
    mkdir "$1/etc/systemd/system/qemu-guest-agent.service.d"
    printf '[Service]\nLogLevelMax=notice\n' >"$1/etc/systemd/system/qemu-guest-agent.service.d/quiet.conf"
    for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
            fstrim.timer mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer lvm2-monitor.service \
            getty.target systemd-timesyncd.service systemd-update-utmp.service kmod-static-nodes.service \
            modprobe@configfs.service modprobe@drm.service modprobe@efi_pstore.service modprobe@fuse.service \
            dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount; do
        ln -sf /dev/null "$1/etc/systemd/system/$unit"
    done
"""
SIZE = "2G"


def apt_options() -> list[str]:
    """How this machine reaches its package archive, for the apt that fills the guest."""
    dump = subprocess.run(["apt-config", "dump", "--no-empty", "--format", '%f "%v";%n'], check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    wanted = ("Acquire::http::", "Acquire::https::", "Acquire::Check-", "Acquire::Retries ")
    return [line for line in dump.splitlines() if line.startswith(wanted)]


def apt_sources() -> list[str]:
    """This machine's own lists of its distribution; other vendors' have nothing that a guest needs."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*.*"))]
    lists = [path for path in places if path.suffix in (".list", ".sources") and path.is_file()]
    debian = [str(path) for path in lists if "debian" in path.read_text(errors="replace")]
    return debian or ["http://deb.debian.org/debian"]


def release() -> str | None:
    """The code name of this machine's Debian, or None if it is another system."""
    found = {}
    with contextlib.suppress(OSError):
        for line in Path("/etc/os-release").read_text().splitlines():
            key, _, value = line.partition("=")
            found[key] = value.strip('"')
    return found.get("VERSION_CODENAME") if found.get("ID") == "debian" else None


class Image:
    """Paths of the finished parts: .disk (a bare ext4 file system labelled `guest`), .kernel, .initrd."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.disk, self.kernel, self.initrd = (directory / name for name in ("disk", "vmlinuz", "initrd.img"))


class Unmade(Exception):
    """The image is not there and cannot be made: no package archive is reached, no room, no right."""


def cached() -> Image:
    """The image from the cache, made first if it is not there. Others, and what was never finished, are removed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plateau"
    cache.mkdir(parents=True, exist_ok=True)
    recipe = repr((release(), PACKAGES, EXCLUDED, ESSENTIAL_HOOK, CUSTOMIZE_HOOK, SIZE))
    image = Image(cache / f"guest-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}")
    with open(cache / "guest.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test runs at once make it once
        if not image.directory.exists():
            for old in (path for path in cache.glob("*guest-*") if path.is_dir()):
                shutil.rmtree(old)
            _make(image)
    return image


def _make(image: Image):
    work = Path(tempfile.mkdtemp(prefix=".guest-", dir=image.directory.parent))
    try:
        new = Image(work / "image")
        new.directory.mkdir()
        root = work / "root"
        _run("mmdebstrap", "--mode=root", "--variant=minbase", f"--include={','.join(PACKAGES)}",
             '--aptopt=Apt::Install-Recommends "false"', *(f"--aptopt={option}" for option in apt_options()),
             *(f"--dpkgopt=path-exclude={path}" for path in EXCLUDED),
             f"--essential-hook={ESSENTIAL_HOOK}", f"--customize-hook={CUSTOMIZE_HOOK}",
             release(), str(root), *apt_sources())  # fmt: skip
        shutil.copy(next(root.glob("boot/vmlinuz-*")), new.kernel)
        shutil.copy(next(root.glob("boot/initrd.img-*")), new.initrd)
        _run("mke2fs", "-q", "-t", "ext4", "-L", "guest", "-d", str(root), str(new.disk), SIZE)
        new.directory.rename(image.directory)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _run(*command: str):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")  # fmt: skip
    if done.returncode != 0:
        raise Unmade(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-4000:]}")
