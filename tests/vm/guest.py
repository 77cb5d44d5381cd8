# SPDX-License-Identifier: MIT
"""A whole machine for tests: systemd, udev and the installed plateau, on an emulated processor.

It is told what to do through two sockets: QEMU's monitor (QMP) plugs, unplugs and wakes, and the guest's own agent
runs commands. Both speak one JSON document a line.

A power cut is SIGKILL to QEMU. It takes the guest's page cache along, and what a disk in qcow2 has not flushed: until
the guest flushes, only QEMU knows where newly written clusters lie. So such a disk, the root among them, loses its
write cache as well; a raw one keeps all that it ever took.
"""

from __future__ import annotations

import base64
import contextlib
import json
import shlex
import shutil
import socket
import subprocess
import time
from pathlib import Path

import harness
import image
from harness import MIB, PATIENCE, Result, wait_for

JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=4\ntime_based\nruntime=3600\n"

# What the NVMe drives do together, so that runs leave the processor to others.
THROTTLE = {"qom-type": "throttle-group", "id": "nvme", "limits": {"iops-total": 400}}

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class JsonSocket:
    """A peer that answers each command, one JSON document a line, in order; events in between are kept."""

    def __init__(self, path: Path):
        self._socket = socket.socket(socket.AF_UNIX)
        wait_for(lambda: self._connect(path), 20, f"{path} answers")
        self._lines = self._socket.makefile("rb")
        self.events: list[dict] = []

    def _connect(self, path: Path) -> bool:
        with contextlib.suppress(OSError):
            self._socket.connect(str(path))
            return True
        return False

    def close(self):
        self._lines.close()
        self._socket.close()

    def send(self, command: str, **arguments):
        document = {"execute": command, **({"arguments": arguments} if arguments else {})}
        self._socket.sendall(json.dumps(document).encode() + b"\n")

    def receive(self, timeout: float) -> dict:
        self._socket.settimeout(timeout)
        line = self._lines.readline()
        if not line:
            raise ConnectionError("the guest's machine is gone")
        return json.loads(line.lstrip(b"\xff"))

    def __call__(self, command: str, timeout: float = 30, **arguments):
        self.send(command, **arguments)
        while True:
            answer = self.receive(timeout * PATIENCE)
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]
            self.events.append(answer)

    def wait_event(self, name: str, timeout: float = 30, **data):
        """Waits for an event with these data, whether it has come already or not."""

        def matches(event):
            return event.get("event") == name and data.items() <= event.get("data", {}).items()

        while not any(map(matches, self.events)):
            self.events.append(self.receive(timeout * PATIENCE))
        self.events[:] = [event for event in self.events if not matches(event)]


class Drive:
    """A drive's medium on this side, and how the guest sees it: kind `nvme` or `scsi`, with a serial number."""

    def __init__(self, directory: Path, name: str, kind: str, serial: str, size: int, form: str = "raw"):
        self.name, self.kind, self.serial, self.size, self.form = name, kind, serial, size, form
        self.file = directory / name
        if form == "raw":
            with open(self.file, "xb") as f:
                f.truncate(size)
        else:
            _qemu_img("create", "-f", form, self.file, size)

    def node(self) -> dict:
        medium = {"driver": self.form, "file": {"driver": "file", "filename": str(self.file)}, "discard": "unmap"}
        if self.kind == "nvme":
            medium = {"driver": "throttle", "throttle-group": THROTTLE["id"], "file": medium}
        return {"node-name": f"node-{self.name}", **medium}

    def device(self, slot: int) -> dict:
        self.slot = slot
        device = {"driver": "nvme", "bus": f"port{slot}"} if self.kind == "nvme" else \
                 {"driver": "scsi-hd", "bus": "scsi.0", "scsi-id": slot}
        return {**device, "id": self.name, "drive": f"node-{self.name}", "serial": self.serial}

    def hash(self) -> str:
        return harness.content_hash(self.file)


def _qemu_img(*args):
    subprocess.run(["qemu-img", *map(str, args)], check=True, stdout=subprocess.DEVNULL)


class Guest(harness.Scratch):
    """drives are plugged in in this order when it boots; change the list while the power is off."""

    N_PORTS = 8

    def __init__(self, disk: image.Image):
        super().__init__()
        self.directory = harness.scratch_path("guest")
        self._undo.callback(shutil.rmtree, self.directory, ignore_errors=True)
        self.drives: list[Drive] = []
        self.console = self.directory / "console"
        self._image = disk
        self._root = self.directory / "root"
        _qemu_img("create", "-f", "qcow2", "-b", self._image.disk, "-F", "raw", self._root)
        self._plateau = self.directory / "plateau.tar"
        self._pack_plateau()
        self._undo.callback(self.power_cut)
        self._qemu: subprocess.Popen | None = None
        self.monitor: JsonSocket | None = None
        self._agent: JsonSocket | None = None

    def _pack_plateau(self):
        """What `meson install` puts into a machine, as an archive that the guest reads like a disk."""
        tree = self.directory / "tree"
        subprocess.run(["meson", "install", "-C", str(harness.BUILD), "--no-rebuild", "--quiet", "--destdir",
                        str(tree)], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        subprocess.run(["tar", "-C", str(tree), "--owner=0", "--group=0", "-cf", str(self._plateau), "."], check=True)
        shutil.rmtree(tree)

    def _command(self) -> list[str]:
        def option(name: str, **values):
            return [f"-{name}", json.dumps(values)]  # as on the monitor

        here = self.directory
        command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none",
                   "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024",
                   "-global", "ICH9-LPC.disable_s3=0", "-rtc", "base=utc",
                   "-kernel", str(self._image.kernel), "-initrd", str(self._image.initrd),
                   "-append", "root=/dev/vda rw console=ttyS0 quiet mitigations=off audit=0 "
                   "rcupdate.rcu_expedited=1 module_blacklist=kvm_amd,kvm_intel,kvm,powernow_k8",
                   "-serial", f"file:{self.console}",
                   "-chardev", f"socket,id=monitor,path={here}/monitor,server=on,wait=off",
                   "-mon", "chardev=monitor,mode=control",
                   "-chardev", f"socket,id=agent,path={here}/agent,server=on,wait=off",
                   "-device", "virtio-serial",
                   "-device", "virtserialport,id=agent,chardev=agent,name=org.qemu.guest_agent.0",
                   "-device", "virtio-rng-pci", "-device", "virtio-scsi-pci,id=scsi"]  # fmt: skip
        for name, form, options in (("root", "qcow2", {}), ("plateau.tar", "raw", {"read-only": True})):
            command += option("blockdev", **{"node-name": f"node-{name}", "driver": form, **options,
                                             "file": {"driver": "file", "filename": str(here / name)}})  # fmt: skip
            command += option("device", driver="virtio-blk-pci", drive=f"node-{name}", serial=name)
        command += option("object", **THROTTLE)
        for port in range(self.N_PORTS):
            command += ["-device", f"pcie-root-port,id=port{port},chassis={port + 1},slot={port + 1}"]
        for slot, drive in enumerate(self.drives):
            command += option("blockdev", **drive.node()) + option("device", **drive.device(slot))
        return command

    # --- power ---

    def boot(self):
        """Returns when systemd has started all that it wants to."""
        assert self._qemu is None, "it runs already"
        with open(self.directory / "qemu.log", "a") as log:
            self._qemu = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.monitor = JsonSocket(self.directory / "monitor")
            self.monitor.receive(20)
            self.monitor("qmp_capabilities")
            self._agent = JsonSocket(self.directory / "agent")
            self.monitor.wait_event("VSERPORT_CHANGE", timeout=120, id="agent", open=True)
            self("systemctl is-system-running --wait", check=False, timeout=120)
        except (AssertionError, ConnectionError, TimeoutError, RuntimeError) as error:
            raise RuntimeError(f"the guest did not start: {error}\n{self.log()}") from error

    def power_cut(self):
        """From one instruction to the next."""
        if self._qemu is not None:
            self._qemu.kill()
        self._off()

    def suspend(self, until: str, span_s: float) -> float:
        """Once the shell command `until` succeeds, suspends to memory for span_s seconds; returns how long it was away,
        in s."""
        script = f"until {until}; do sleep 0.2; done; systemctl suspend"
        self._agent("guest-exec", path="sh", arg=["-c", script], env=[f"PATH={SEARCH_PATH}"])
        self.monitor.wait_event("SUSPEND", timeout=60)
        began = time.monotonic()
        time.sleep(span_s)  # is what it was suspended for
        self.monitor("system_wakeup")
        self.monitor.wait_event("WAKEUP")
        return time.monotonic() - began

    def _off(self):
        if self._qemu is not None:
            self._qemu.wait()
        for peer in (self.monitor, self._agent):
            if peer is not None:
                peer.close()
        self._qemu = self.monitor = self._agent = None

    def log(self) -> str:
        """The end of what QEMU and the guest's console said."""
        parts = (self.directory / "qemu.log", self.console)
        return "\n".join(path.read_text(errors="replace")[-4000:] for path in parts if path.exists())

    def story(self) -> str:
        """What helps to understand a failure, as far as it can be had."""
        if self._agent is None:
            return self.log()
        try:
            return self("journalctl -b -o short-monotonic -n 80; lsblk -o NAME,SIZE,SERIAL,FSTYPE,MOUNTPOINTS; "
                        "plateau list; plateau show last", check=False, timeout=10).out  # fmt: skip
        except (AssertionError, OSError, RuntimeError):
            return self.log()

    # --- drives ---

    def add(self, name: str, kind: str, serial: str, size: int = 64 * MIB, form: str = "raw") -> Drive:
        self.drives.append(Drive(self.directory, name, kind, serial, size, form))
        return self.drives[-1]

    def drive(self, name: str) -> Drive:
        return next(drive for drive in self.drives if drive.name == name)

    def plug(self, drive: Drive, slot: int):
        """Puts a drive of this guest's directory into a free slot while the power is on."""
        self.monitor("blockdev-add", **drive.node())
        self.monitor("device_add", **drive.device(slot))
        self.drives.append(drive)
        wait_for(lambda: self(f"test -b {self.path(drive.name)}", check=False).rc == 0, 30, f"{drive.name} plugged in")

    def unplug(self, name: str) -> Drive:
        """Pulls a drive out; returns it when the guest has let go of it."""
        drive = self.drive(name)
        self.monitor("device_del", id=name)
        self.monitor.wait_event("DEVICE_DELETED", timeout=60, device=name)
        self.monitor("blockdev-del", **{"node-name": f"node-{name}"})
        self.drives.remove(drive)
        return drive

    def path(self, name: str) -> str:
        """What the guest's kernel calls the drive now."""
        drive = self.drive(name)
        if drive.kind == "nvme":
            found = self(f"grep -lx '{drive.serial} *' /sys/class/nvme/*/serial").out.split("/")[4] + "n1"
        else:
            found = self(f"ls /sys/class/scsi_device/*:*:{drive.slot}:0/device/block").out.strip()
        return f"/dev/{found}"

    # --- commands ---

    def __call__(self, script: str, *args, check: bool | int = True, input: str = "", timeout: float = 60) -> Result:
        """Runs a shell script in the guest, with args as $1 and so on; check as for harness.Cli."""
        limit = timeout * PATIENCE
        options = {"capture-output": True, "input-data": base64.b64encode(input.encode()).decode()}
        started = self._agent("guest-exec", path="timeout",
                              arg=["-k", "5", f"{limit:g}", "sh", "-c", script, "sh", *map(str, args)],
                              env=[f"PATH={SEARCH_PATH}", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/root"],
                              **options)  # fmt: skip
        deadline = time.monotonic() + limit + 20
        while not (status := self._agent("guest-exec-status", pid=started["pid"]))["exited"]:
            if time.monotonic() > deadline:
                raise AssertionError(f"hangs in the guest: {script}")
            time.sleep(0.1)

        def text(key):
            return base64.b64decode(status.get(key, "")).decode(errors="surrogateescape")

        result = Result([script, *args], status.get("exitcode", -status.get("signal", 0)), text("out-data"),
                        text("err-data"))  # fmt: skip
        if check is not False:
            assert result.rc == (0 if check is True else check), result
        return result

    def clock(self):
        """A function that tells what the guest's wall clock shows, without asking it: in s, to the time of a call."""
        before = time.time()
        ahead = float(self("date +%s.%N").out) - (before + time.time()) / 2
        return lambda: time.time() + ahead

    def plateau(self, *args, **options) -> Result:
        return self(shlex.join(["plateau", *map(str, args)]), **options)

    def json(self, *args, **options):
        """The document that the verb prints with --json."""
        return self.plateau(*args, "--json", **options).json

    # --- plateau ---

    def install_plateau(self):
        """As README tells: install, make the user, enable the service."""
        self("tar -xf /dev/disk/by-id/virtio-plateau.tar -C / && ldconfig && systemd-sysusers && "
             "systemctl daemon-reload && systemctl reload dbus && systemctl enable --now plateaud",
             timeout=120)  # fmt: skip

    def unit(self, *properties: str) -> dict[str, str]:
        shown = self("systemctl show plateaud -p " + ",".join(properties)).out
        return dict(line.split("=", 1) for line in shown.splitlines())

    def workers(self) -> list[int]:
        return [int(pid) for pid in self("pgrep -x plateau-worker", check=False).out.split()]

    def start(self, name: str, job: str = JOB, confirm: str | None = None) -> int:
        """Starts job (its text) on the drive called name; returns the run's number."""
        return self.json("start", "-", "--device", self.path(name), "--confirm", confirm or self.drive(name).serial,
                         input=job)["run"]  # fmt: skip

    def row(self, run: int) -> dict:
        return self.json("show", run)

    def samples(self, run: int) -> list[dict]:
        return self.json("samples", run)["samples"]

    def wait_state(self, run: int, *states: str, timeout: float = 60) -> dict:
        """Waits until the database shows run in one of the states; returns its `show` document."""
        seen = {}

        def reached():
            seen.update(self.row(run))
            return seen["state"] in states

        wait_for(reached, timeout, f"run {run} {' or '.join(states)}", interval=0.5)
        return seen

    def wait_samples(self, run: int, n: int, timeout: float = 60) -> list[dict]:
        seen = []

        def enough():
            seen[:] = self.samples(run)
            return len(seen) >= n

        wait_for(enough, timeout, f"{n} samples of run {run}", interval=0.5)
        return seen

    def wait_resumed(self, run: int, row: dict, samples: list[dict], timeout: float = 90) -> dict:
        """Waits until run has come back by itself since it had this row and these samples: it tells how long it was
        away and what proved the drive, and the record goes on where it ended. Returns its `show` document."""

        def n_events(document, kind, start=""):
            return sum(event["kind"] == kind and event["detail"].startswith(start) for event in document["events"])

        def resumed():
            seen = self.row(run)
            return seen["state"] == "running" and all(
                n_events(seen, *what) == n_events(row, *what) + 1 for what in (("outage", "it is over"), ("resumed",)))

        wait_for(resumed, timeout, f"run {run} goes on", interval=0.5)
        record = self.wait_samples(run, len(samples) + 2)
        assert [sample["seq"] for sample in record] == list(range(len(record)))
        assert record[: len(samples)] == samples
        return self.row(run)
