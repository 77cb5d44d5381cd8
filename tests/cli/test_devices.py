# SPDX-License-Identifier: MIT

import subprocess

import harness
import needs

KEYS = set("""path model serial wwn firmware size_bytes logical_block_bytes physical_block_bytes rotational transport
              link read_ahead_kib scheduler write_cache eligible reasons""".split())


def one(cli, device):
    (found,) = cli.json("devices", device.path)["devices"]
    return found


def test_a_free_device(cli, loop):
    device = loop(sector=4096)
    found = one(cli, device)
    assert set(found) >= KEYS
    assert found["path"] == device.path and found["size_bytes"] == device.size
    assert found["logical_block_bytes"] == 4096 and found["transport"] == "loop"
    assert found["serial"] is None and found["confirm"] == device.confirm
    assert found["eligible"] is True and found["reasons"] == []
    assert "yes" in cli("devices", device.path).out


def test_all_devices(cli, loop):
    device = loop()
    found = {row["path"]: row for row in cli.json("devices")["devices"]}
    assert found[device.path]["eligible"] is True


def test_a_device_in_use(cli, loop):
    device = loop()
    with open(device.path, "rb"):
        found = one(cli, device)
        assert found["eligible"] is False and found["erasable"] is False
        assert any("held open by process" in reason for reason in found["reasons"])
        assert "no: " in cli("devices", device.path).out


def test_a_device_with_content(cli, loop):
    device = loop()
    needs.need_programs("mkswap")
    subprocess.run(["mkswap", "-q", device.path], check=True)
    found = one(cli, device)
    assert found["eligible"] is False and found["erasable"] is True
    assert any("swap" in reason for reason in found["reasons"])
    assert "with --erase-existing" in cli("devices", device.path).out


def test_a_label_that_acts_on_a_terminal_is_shown_as_text(service, loop):
    device = loop()
    needs.need_programs("mkfs.ext4")
    label = b"\x1b[2J%n%s\"'\\\n\xff"
    subprocess.run(["mkfs.ext4", "-q", "-L", label, device.path], check=True)
    (reason, *_) = one(service.cli, device)["reasons"]
    assert "\x1b[2J%n%s\"'\\\n\ufffd" in reason
    job = "[p]\nrw=randwrite\n"
    refused = service.cli("start", "-", "--device", device.path, "--confirm", device.confirm, input=job, check=3)
    for told in (service.cli("devices", device.path).out, refused.err):
        assert "\\x1B[2J%n%s\"'" in told, told
    for told in (service.cli("devices", device.path).out, refused.err, service.log()):
        assert "\x1b" not in told and "\udcff" not in told, told


def test_looking_changes_nothing(cli, loop):
    device = loop()
    before = device.stat()["writes"], harness.content_hash(device.file)
    cli("devices", device.path)
    assert (device.stat()["writes"], harness.content_hash(device.file)) == before


def test_what_is_no_device(cli, tmp_path):
    assert cli("devices", "/dev/nothing-there", "--json", check=6).json["error"]["code"] == "not-found"
    assert "character device" in cli("devices", "/dev/null", check=3).err
    (tmp_path / "file").touch()
    assert "regular file" in cli("devices", tmp_path / "file", check=3).err


def test_several_by_name_keep_their_order(cli, loop):
    a, b = loop(), loop()
    assert [row["path"] for row in cli.json("devices", b.path, a.path)["devices"]] == [b.path, a.path]


def test_a_drive_that_hangs(cli, nbd, loop):
    hung, free = nbd(64 * harness.MIB), loop()
    subprocess.run(["blockdev", "--flushbufs", hung.path], check=True)
    hung.hang()
    rows = {row["path"]: row for row in cli.json("devices", hung.path, free.path, timeout=20)["devices"]}
    hung.unhang()
    assert rows[hung.path]["size_bytes"] == hung.size and rows[hung.path]["eligible"] is False
    assert rows[hung.path]["reasons"] == ["did not answer within 8 s"]
    assert rows[free.path]["eligible"] is True
