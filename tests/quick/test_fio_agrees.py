# SPDX-License-Identifier: MIT
"""fio itself is the judge of job files: what it takes and what it makes of amounts, plateau does too."""

import json
import subprocess

import pytest

import needs

ACCEPTED = {
    "sandforce": "bs=4k\nnumjobs=64\nrandrepeat=0\nrwmixread=0\nnorandommap\nrw=randrw\nruntime=60000\n"
                 "do_verify=0\ndirect=1\nioengine=sync",
    "nothing said": "",
    "upper-case suffixes": "bs=4K\nsize=1G\nio_size=1MB",
    "hexadecimal": "bs=0x1000",
    "sizes for each direction": "rw=rw\nbs=4k,8k",
    "size for writes only": "rw=rw\nbs=,8k",
    "sizes for three directions": "rw=rw\nbs=4k,,8k",
    "aliases": "readwrite=randread\nblocksize=8k\ntimeout=10\nio_limit=1m\nfileoffset=0\nwait_for_previous",
    "rw=readwrite": "rw=readwrite",
    "mix by writes": "rw=randrw\nrwmixwrite=10",
    "later option wins": "rw=write\nrw=read",
    "percentages": "size=50%\noffset=25%\nio_size=10%",
    "times": "runtime=2m\n[b]\nruntime=1h\n[c]\nruntime=1d\n[d]\nruntime=500ms\n[e]\nruntime=500usec\n[f]\nruntime=0",
    "flags with values": "norandommap=0\ntime_based=1\nruntime=1\nstonewall=1\ngroup_reporting=1\nthread=1",
    "flags without values": "norandommap\ntime_based\nruntime=1\nstonewall\ngroup_reporting\nthread",
    "keyword": "numjobs=$ncpus",
    "arithmetic of times": "runtime=$ncpus\nramp_time=2*$ncpus\n[b]\nss=iops:2%\nss_dur=$ncpus*10\nss_ramp=$ncpus+1",
    "arithmetic": "numjobs=$ncpus*2\nbs=$pagesize*2",
    "depth with suffix": "iodepth=1k",
    "loops=0": "loops=0",
    "size=0": "size=0",
    "seeds": "randseed=0x2a\n[b]\nrandseed=5",
    "comments": "; a\n# b\nrw=write # c\nbs=4k ; d",
    "indented": "  rw=write\n\tbs=4k",
    "CRLF": "rw=write\r\nbs=4k\r",
    "two sections of one name": "rw=write\n[a]\nrw=read",
    "global again": "[global]\nbs=8k\n[b]\nrw=write\n[global]\nbs=16k\n[c]",
    "section with blanks": "[a b c]\nrw=write",
    "sizes with shares": "bssplit=4k/60:64k/40",
    "sizes without shares": "bssplit=4k:8k:16k/20",
    "one size with share": "bssplit=4k",
    "shares below 100": "bssplit=4k/10:8k/20",
    "share of 0": "bssplit=4k/0:8k/50",
    "shares of reads and writes": "rw=rw\nbssplit=4k/50:8k/50,16k",
    "shares of writes only": "rw=rw\nbssplit=,4k/50:8k/50",
    "shares and a size": "bssplit=4k/50:8k/50\nbs=16k",
    "number of I/Os": "number_ios=10\n[b]\nnumber_ios=0\n[c]\nnumber_ios=1k",
    "increments": "numjobs=2\nsize=1m\noffset_increment=1m\n[b]\nnumjobs=2\nsize=5%\noffset_increment=10%",
    "rates": "rate=1m\n[b]\nrate=1m,2m\n[c]\nrate=1m,\n[d]\nrate=,1m\n[e]\nrate=1m,2m,3m\n[f]\nrate=0",
    "rates of I/Os": "rate_iops=1k\n[b]\nrate_iops=,5\n[c]\nrate_iops=5,",
    "uniform": "rw=randread\nrandom_distribution=random",
    "zipf": "rw=randread\nnorandommap\nrandom_distribution=zipf\n[b]\nrandom_distribution=zipf:1.2",
    "zones": "rw=randread\nnorandommap\nrandom_distribution=zoned:60/10:30/20:10",
    "zones not everywhere": "rw=randread\nnorandommap\nrandom_distribution=zoned:50/10:50/20",
    "contents": "buffer_compress_percentage=50\ndedupe_percentage=50\n[b]\nzero_buffers\n[c]\nrefill_buffers=1",
    "all compressible": "buffer_compress_percentage=100",
    "flushes": "fsync=5\n[b]\nfsync=0",
    "logs": "write_bw_log\nwrite_lat_log=x\nwrite_iops_log=x\nlog_avg_msec=100",
    "batches": "iodepth_batch=4\niodepth_batch_complete_min=2",
    "trims": "rw=trim\nbs=64k\n[b]\nrw=randtrim\nbs=4k,8k,64k\n[c]\nrw=randtrim\nbssplit=4k/50:8k\nnumjobs=2",
    "ramps": "ramp_time=10\nruntime=5m\n[b]\nramp_time=0\n[c]\nramp_time=500ms\n[d]\nramp_time=1h",
    "steady states": "ss=iops:2%\nss_dur=10\n[b]\nsteadystate=iops_slope:0.3%\nsteadystate_duration=5m\n"
                     "[c]\nss=bw:10m\nss_dur=5\nss_ramp=3\n[d]\nss=bw_slope:5\nss_dur=500ms\n"
                     "[e]\nss=iops:100.5\nsteadystate_ramp_time=5\n[f]\nss=iops:200%",
    "of one engine": "ioengine=io_uring\nfixedbufs\nregisterfiles",
}

REJECTED = {
    "typing error": "rwmixraed=3",
    "unknown option": "xyzzy=3",
    "upper-case option": "RW=write",
    "upper-case value": "rw=WRITE",
    "unknown value": "rw=randwritex",
    "rw without value": "rw",
    "empty numbers": "size=",
    "empty time": "runtime=",
    "empty text": "description=",
    "bare text": "description",
    "mix above 100": "rwmixread=101",
    "no depth": "iodepth=0",
    "no block": "bs=0",
    "suffix alone": "bs=k",
    "direct=2": "direct=2",
    "bare direct": "direct",
    "bare randrepeat": "randrepeat",
    "randrepeat with a word": "randrepeat=true",
    "flag with a word": "time_based=yes",
    "flag with an empty value": "norandommap=",
    "number beyond 64 bits": "size=99999999999999999999",
    "io_size above 100%": "io_size=200%",
    "no name": "=5",
    "more than a whole": "bssplit=4k/60:8k/60:16k:32k",
    "bare bssplit": "bssplit",
    "word for a size": "bssplit=x/50",
    "bare fsync": "fsync",
    "empty rate": "rate=",
    "word for a rate": "rate_iops=x",
    "zipf of 1": "random_distribution=zipf:1.0",
    "zipf of a word": "random_distribution=zipf:x",
    "zipf of nothing": "random_distribution=zipf:",
    "accesses below 100": "random_distribution=zoned:50/50:40/50",
    "accesses above 100": "random_distribution=zoned:60/10:50/20",
    "zones above 100": "random_distribution=zoned:50/70:50/70",
    "no zones": "random_distribution=zoned",
    "unknown distribution": "random_distribution=xyz",
    "compressible above 100": "buffer_compress_percentage=101",
    "alike above 100": "dedupe_percentage=101",
    "unknown trims": "rw=trimread",
    "empty ramp": "ramp_time=",
    "word for a ramp": "ramp_time=x",
    "steady latency": "ss=lat:5",
    "no limit": "ss=iops",
    "empty limit": "ss=iops:",
    "word for a limit": "ss=iops:x",
    "unknown criterion": "ss=foo:3",
    "empty duration": "ss_dur=",
    "arithmetic without keyword": "bs=(2*4096)",
    "arithmetic of times without keyword": "runtime=(2*3)",
    "suffix in arithmetic": "size=$ncpus*1m",
    "suffix in arithmetic of times": "runtime=$ncpus*1m",
}

# Not accepted, though fio takes them: it drops or guesses at what it does not understand, or has what plateau has not.
STRICTER = {
    "limit that nothing is below": "ss=iops:0%",
    "negative limit": "ss=iops:-1%",
    "trims and writes": "rw=trimwrite",
    "shares above 100": "bssplit=4k/60:8k/60",
    "empty bssplit": "bssplit=",
    "size that is no multiple": "bssplit=4k/50:6k/50",
    "colon at the end": "bssplit=4k/50:",
    "share above 100": "bssplit=4k/500:8k",
    "word for a share": "bssplit=4k/a:8k",
    "size of 0": "bssplit=0/50:4k",
    "negative number of I/Os": "number_ios=-1",
    "four rates": "rate_iops=1,2,3,4",
    "both rates": "rate=1m\nrate_iops=5",
    "zipf of 0": "random_distribution=zipf:0",
    "center of zipf": "random_distribution=zipf:1.2:0.5",
    "distribution that is not there": "random_distribution=pareto:0.9",
    "zipf and a map": "rw=randwrite\nnorandommap=0\nrandom_distribution=zipf",
    "no room for stamps": "buffer_compress_percentage=95",
    "fraction": "bs=1.5k",
    "unknown suffix": "bs=4x",
    "unknown time": "runtime=10sec",
    "product without keyword": "size=2*1m",
    "product of times without keyword": "runtime=2*3",
    "fraction of a time": "runtime=1.5h",
    "negative": "offset=-1",
    "dash for comma": "bs=4k-8k",
    "percentage above 100": "size=200%",
    "flag above 1": "norandommap=2",
    "cached": "direct=0",
    "parallel": "stonewall=0",
    "streams with regions of several sizes": "numjobs=2\noffset_increment=1m",
    "suffix behind a keyword": "size=$ncpusg",
    "suffix of a time behind a keyword": "runtime=$ncpusm",
    "no streams": "numjobs=0",
    "target": "filename=x",
}

AMOUNTS = {
    "size": "rw=write\nsize=1m",
    "numjobs and loops": "rw=write\nsize=1m\nnumjobs=2\nloops=3",
    "io_size above size": "rw=write\nsize=1m\nio_size=3m",
    "io_size below size": "rw=write\nsize=4m\nio_size=1m",
    "io_size below size, looped": "rw=write\nsize=4m\nio_size=1m\nloops=2",
    "io_size above size, looped": "rw=write\nsize=1m\nio_size=3m\nloops=2",
    "more loops than io_size": "rw=write\nsize=128k\nio_size=384k\nloops=5",
    "random without map, looped": "rw=randwrite\nsize=128k\nio_size=384k\nloops=2\nnorandommap",
    "random with map, looped": "rw=randwrite\nsize=128k\nio_size=384k\nloops=2\nnorandommap=0",
    "io_size in percent": "rw=write\nsize=4m\nio_size=50%",
    "size in suffixes": "rw=write\nsize=1mb\nbs=8k",
    "IEC size": "rw=write\nsize=2048kib\nbs=512",
    "all writes of a mix": "rw=randrw\nrwmixread=0\nsize=1m\nnorandommap",
    "reads": "rw=read\nsize=1m",
    "number of I/Os": "rw=write\nsize=1m\nnumber_ios=10\nloops=3\nnumjobs=2",
    "number of I/Os beyond size": "rw=write\nsize=1m\nnumber_ios=1000",
    "number of I/Os below io_size": "rw=write\nsize=1m\nio_size=3m\nnumber_ios=500",
    "io_size within a block": "rw=write\nsize=4m\nio_size=7k\nnumjobs=4",
    "io_size within a block, random": "rw=randwrite\nnorandommap\nsize=4m\nio_size=3002k\nnumjobs=2",
    "io_size within a block, looped": "rw=write\nsize=128k\nio_size=5k\nloops=3\nnumjobs=2",
    "io_size within a block, random and looped": "rw=randwrite\nsize=128k\nio_size=150k\nloops=3\nnorandommap",
    "io_size within a block after loops": "rw=write\nsize=64k\nio_size=130k\nloops=2",
    "passes beyond io_size": "rw=write\nsize=64k\nio_size=160k\nloops=2",
    "passes beyond io_size, once each": "rw=randwrite\nnorandommap=0\nsize=64k\nio_size=160k\nloops=2\nnumjobs=3",
    "io_size within a block, once each": "rw=randwrite\nnorandommap=0\nbs=64k\nsize=1m\nio_size=2100k",
    "io_size within a block, above size": "rw=write\nbs=64k\nsize=1m\nio_size=2100k",
    "above size, mixed in sequence": "rw=rw\nrwmixread=0\nsize=64k\nio_size=160k\nloops=2",
    "a block beyond size": "rw=write\nbs=64k\nsize=1m\nio_size=1025k",
    "several sizes": "rw=write\nsize=1m\nbssplit=4k/50:8k/50",
}


@pytest.fixture(autouse=True)
def fio():
    needs.need_programs("fio")


def write_job(tmp_path, options: str):
    path = tmp_path / "job.fio"
    path.write_bytes(f"[a]\n{options}\n".encode())
    return path


def fio_accepts(path) -> bool:
    run = subprocess.run(["fio", "--parse-only", str(path)], cwd=path.parent, capture_output=True, timeout=60)
    return run.returncode == 0


@pytest.mark.parametrize("options", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_both_accept(cli, tmp_path, options):
    path = write_job(tmp_path, options)
    assert fio_accepts(path)
    assert cli("check-job", path, "--json", check=False).rc == 0


@pytest.mark.parametrize("options", REJECTED.values(), ids=REJECTED.keys())
def test_both_reject(cli, tmp_path, options):
    path = write_job(tmp_path, options)
    assert not fio_accepts(path)
    assert cli("check-job", path, "--json", check=False).rc == 2


@pytest.mark.parametrize("options", STRICTER.values(), ids=STRICTER.keys())
def test_only_fio_accepts(cli, tmp_path, options):
    path = write_job(tmp_path, options)
    assert fio_accepts(path)
    assert cli("check-job", path, "--json", check=False).rc == 2


@pytest.mark.parametrize("options", AMOUNTS.values(), ids=AMOUNTS.keys())
def test_as_much_is_written(cli, tmp_path, options):
    path = write_job(tmp_path, options + "\nioengine=null")
    command = ["fio", "--output-format=json", str(path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=True)
    report = json.loads(run.stdout[run.stdout.index(b"{"):])
    written = sum(job["write"]["io_bytes"] for job in report["jobs"])
    phase = cli.json("check-job", path, "--size", "1g")["phases"][0]
    planned, n_jobs = phase["planned_bytes"], len(report["jobs"])
    assert planned == written or (phase["planned_by_chance"] and planned < written < planned + 4096 * n_jobs)
