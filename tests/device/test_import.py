# SPDX-License-Identifier: MIT
"""import writes into the database of a service that is writing too."""

from harness import MIB


def test_import_beside_a_run(service, loop):
    job = "[write]\nbs=4k\niodepth=4\nrw=randwrite\ntime_based\nruntime=60\n"
    (run,) = service.start_run(job, loop(64 * MIB))
    service.wait_samples(run, 2)
    csv = "time_s,write_iops\n" + "".join(f"{t},100\n" for t in range(1, 30001))
    imported = service.cli.json("import", "-", input=csv)["run"]
    n = len(service.samples(run))
    samples = service.wait_samples(run, n + 2)

    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    assert all(sample["duration_ns"] < 2 * 10**9 for sample in samples)
    assert service.row(run)["state"] == "running"
    assert not any(event["kind"] == "database" for event in service.row(run)["events"])
    assert service.row(imported)["state"] == "done" and len(service.samples(imported)) == 30000
    assert service.row(imported)["run"] != run
    service.cli("stop", run)
