-- SPDX-License-Identifier: MIT
--
-- plateau's database, version 1.
--
-- One file a migration, applied in order of their numbers, each in one transaction. The views at the
-- end are the public interface, described in docs/schema.md; the tables may change with any version.
--
-- Units are in the names: _ns nanoseconds, _bytes bytes, _s seconds. An _at_ns is CLOCK_REALTIME, nanoseconds
-- since 1970-01-01 UTC; every other _ns is monotonic time. elapsed_ns is the run's own running time: pauses and
-- outages do not count. Numbers that came from a device or a worker are cut off at 2^63 - 1, the
-- largest that SQLite holds.
--
-- 64-bit numbers that are bit patterns and no quantities (run_tag, seed) are TEXT of 16 hexadecimal digits:
-- as INTEGER half of them would read as negative numbers, and as text they can be looked for in a hex dump of
-- the device.

PRAGMA application_id = 0x504c4154; -- "PLAT"
PRAGMA user_version = 1;

CREATE TABLE runs (
        run INTEGER PRIMARY KEY AUTOINCREMENT -- the number people use; never given twice, even after a deletion
                CHECK (run BETWEEN 1 AND 4294967295),
        name TEXT NOT NULL,                   -- of the job: its file without suffix, or the preset
        label TEXT,                           -- given at the start by the user, or NULL
        job_text TEXT NOT NULL,               -- the job file, as it was read
        state TEXT NOT NULL                   -- an active state is true only while the service lives
                CHECK (state IN ('queued', 'running', 'paused', 'interrupted',
                                 'done', 'stopped', 'failed', 'lost', 'refused')),

        -- The device as it was found at the start. Strings are the device's own bytes, which need
        -- not be UTF-8; NULL where it tells none. Of an imported run only serial and size are of the device, as far as
        -- they were told, and device_path is the name of the file; numbers that are not known are 0.
        device_path TEXT NOT NULL,            -- /dev/NAME, symbolic links resolved
        device_name TEXT NOT NULL,            -- the kernel's: nvme0n1p2
        disk_name TEXT NOT NULL,              -- the whole disk's: nvme0n1
        partition INTEGER NOT NULL,           -- number, 0 for a whole disk
        namespace_id INTEGER NOT NULL,        -- NVMe, 0 for none
        n_namespaces INTEGER NOT NULL,        -- of the controller; 0 or 1 where it does not matter
        diskseq INTEGER NOT NULL,             -- the kernel's number of this disk since boot; 0 where it has none
        model TEXT,
        serial TEXT,
        wwn TEXT,
        firmware TEXT,
        size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- 0: not known
        logical_block_bytes INTEGER NOT NULL CHECK (logical_block_bytes >= 0),
        physical_block_bytes INTEGER NOT NULL CHECK (physical_block_bytes >= 0),
        rotational INTEGER NOT NULL CHECK (rotational IN (0, 1)),
        transport TEXT,                       -- sata, sas, nvme, usb, loop, ...
        link TEXT,                            -- "6.0 Gbps", "PCIe 8.0 GT/s x4"
        host_driver TEXT,                     -- of the HBA or controller: ahci, mpt3sas, nvme
        scheduler TEXT,                       -- the kernel's I/O scheduler: none, mq-deadline
        write_cache TEXT,                     -- "write back", "write through"
        read_ahead_kib INTEGER NOT NULL CHECK (read_ahead_kib >= 0), -- KiB
        nr_requests INTEGER NOT NULL CHECK (nr_requests >= 0),       -- depth of the kernel's queue

        host TEXT NOT NULL,                   -- host name and kernel release
        boot_id TEXT NOT NULL,                -- /proc/sys/kernel/random/boot_id when the run was made
        run_tag TEXT NOT NULL                 -- stamped into every sector that the run writes
                CHECK (length(run_tag) = 16 AND run_tag NOT GLOB '*[^0-9a-f]*'),
        seed TEXT NOT NULL                    -- of phases with randrepeat=0
                CHECK (length(seed) = 16 AND seed NOT GLOB '*[^0-9a-f]*'),
        imported INTEGER NOT NULL CHECK (imported IN (0, 1)), -- another tool recorded it: of latencies only means are
                                              -- known, so every percentile is NULL, and histograms hold the means
        errors_known INTEGER NOT NULL CHECK (errors_known IN (0, 1)), -- 0: nobody counted them
        sample_interval_ns INTEGER NOT NULL CHECK (sample_interval_ns > 0), -- as planned; durations are exact
        planned_ns INTEGER CHECK (planned_ns >= 0),       -- running time at most; NULL: cannot be told
        planned_write_bytes INTEGER CHECK (planned_write_bytes >= 0), -- at most; NULL: cannot be told
        created_at_ns INTEGER NOT NULL,
        started_at_ns INTEGER,                -- when it ran for the first time; NULL: not yet
        finished_at_ns INTEGER                -- when it came into a state that is final; NULL: not yet
) STRICT;

-- A job's phases, in the order in which they run, with the totals of their samples. Totals are kept up in the
-- transaction that adds the sample, so that a run of any length is told at once.
CREATE TABLE phases (
        run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        phase INTEGER NOT NULL CHECK (phase >= 0), -- index in the plan, from 0
        name TEXT NOT NULL,                   -- the job file's section
        action TEXT NOT NULL,                 -- io
        rw TEXT NOT NULL,                     -- fio's word: randwrite, ...
        read_percent INTEGER NOT NULL CHECK (read_percent BETWEEN 0 AND 100),
        read_block_bytes INTEGER NOT NULL,    -- bs, by direction; 0 where unused
        write_block_bytes INTEGER NOT NULL,
        trim_block_bytes INTEGER NOT NULL,
        iodepth INTEGER NOT NULL,             -- outstanding I/O of one stream
        numjobs INTEGER NOT NULL,             -- streams
        region_offset_bytes INTEGER NOT NULL, -- all I/O of the phase lies in this part of the device
        region_bytes INTEGER NOT NULL,
        planned_ns INTEGER,                   -- at most; NULL: cannot be told
        planned_write_bytes INTEGER,          -- at most; NULL: cannot be told
        state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'stopped')),
        started_at_ns INTEGER,                -- NULL: not yet
        finished_at_ns INTEGER,               -- NULL: not yet

        n_samples INTEGER NOT NULL DEFAULT 0,
        first_elapsed_ns INTEGER,             -- the run's running time when its first sample began
        elapsed_ns INTEGER NOT NULL DEFAULT 0, -- sum of durations
        read_ios INTEGER NOT NULL DEFAULT 0,  -- completed without error
        write_ios INTEGER NOT NULL DEFAULT 0,
        trim_ios INTEGER NOT NULL DEFAULT 0,
        read_bytes INTEGER NOT NULL DEFAULT 0,
        write_bytes INTEGER NOT NULL DEFAULT 0,
        trim_bytes INTEGER NOT NULL DEFAULT 0,
        errors INTEGER NOT NULL DEFAULT 0,    -- completed with an error
        latency_mean_ns INTEGER,              -- all directions together; NULL: nothing completed
        latency_p50_ns INTEGER,               -- likewise; NULL also where only means are known
        latency_p99_ns INTEGER,
        latency_p999_ns INTEGER,
        latency_max_ns INTEGER,
        read_latency BLOB,                    -- histograms, in the form described in docs/schema.md; NULL: empty
        write_latency BLOB,
        trim_latency BLOB,
        PRIMARY KEY (run, phase)
) STRICT;

-- What happened in one interval. Counts and the exact duration, never a rate; a second in which nothing completed is
-- a row of zeros. Narrow, and in the order in which it is read: histograms are in a table of their own.
CREATE TABLE samples (
        run INTEGER NOT NULL,
        seq INTEGER NOT NULL CHECK (seq >= 0), -- from 0 over the whole run, without gaps
        phase INTEGER NOT NULL,
        at_ns INTEGER NOT NULL,               -- its end, on the wall clock (which may step)
        elapsed_ns INTEGER NOT NULL CHECK (elapsed_ns >= 0),   -- its end, in running time of the run
        duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0), -- exact
        read_ios INTEGER NOT NULL CHECK (read_ios >= 0),       -- completed without error
        write_ios INTEGER NOT NULL CHECK (write_ios >= 0),
        trim_ios INTEGER NOT NULL CHECK (trim_ios >= 0),
        read_bytes INTEGER NOT NULL CHECK (read_bytes >= 0),
        write_bytes INTEGER NOT NULL CHECK (write_bytes >= 0),
        trim_bytes INTEGER NOT NULL CHECK (trim_bytes >= 0),
        errors INTEGER NOT NULL CHECK (errors >= 0),           -- completed with an error
        in_flight INTEGER NOT NULL CHECK (in_flight >= 0),     -- submitted and not completed, at its end
        oldest_ns INTEGER NOT NULL CHECK (oldest_ns >= 0),     -- age of the oldest of them; 0 if none
        latency_mean_ns INTEGER,              -- all directions together; NULL: nothing completed
        latency_p50_ns INTEGER,               -- likewise; NULL also where only the mean is known
        latency_p99_ns INTEGER,
        latency_max_ns INTEGER,
        cpu_percent REAL,                     -- of all the host's cores together; NULL: unknown
        temperature_c REAL,                   -- of the device, degrees Celsius; NULL: unknown
        PRIMARY KEY (run, seq),
        FOREIGN KEY (run, phase) REFERENCES phases (run, phase) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Latency histograms of the samples in which something completed. A rowid table, because its rows are too large to be
-- kept well in a WITHOUT ROWID one.
CREATE TABLE latencies (
        run INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        read_latency BLOB,                    -- NULL: nothing read
        write_latency BLOB,
        trim_latency BLOB,
        PRIMARY KEY (run, seq),
        FOREIGN KEY (run, seq) REFERENCES samples (run, seq) ON DELETE CASCADE
) STRICT;

CREATE TABLE events (
        event INTEGER PRIMARY KEY,            -- in the order in which they were recorded
        run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        at_ns INTEGER NOT NULL,
        elapsed_ns INTEGER NOT NULL CHECK (elapsed_ns >= 0),
        kind TEXT NOT NULL,                   -- started, phase, outage, stalled, ...
        detail TEXT NOT NULL                  -- for people; may be empty
) STRICT;

CREATE INDEX events_of_run ON events (run, event);

-- Errors of the device, one row for each errno of a run however often it came.
CREATE TABLE errors (
        run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        errno INTEGER NOT NULL CHECK (errno > 0), -- Linux's number: 5 is EIO
        count INTEGER NOT NULL CHECK (count >= 0),
        first_at_ns INTEGER NOT NULL,
        last_at_ns INTEGER NOT NULL,
        first_offset_bytes INTEGER NOT NULL CHECK (first_offset_bytes >= 0), -- on the device
        last_offset_bytes INTEGER NOT NULL CHECK (last_offset_bytes >= 0),
        PRIMARY KEY (run, errno)
) STRICT, WITHOUT ROWID;

-- The public interface.

CREATE VIEW run_summary AS
SELECT r.run, r.name, r.label, r.state,
       r.device_path, r.model, r.serial, r.wwn, r.firmware, r.size_bytes, r.host, r.imported, r.errors_known,
       strftime('%Y-%m-%dT%H:%M:%fZ', r.created_at_ns / 1e9, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ns / 1e9, 'unixepoch') AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', r.finished_at_ns / 1e9, 'unixepoch') AS finished_at,
       r.planned_ns / 1e9 AS planned_s,
       sum(p.elapsed_ns) / 1e9 AS elapsed_s,
       sum(p.n_samples) AS n_samples,
       sum(p.read_ios) AS read_ios, sum(p.write_ios) AS write_ios, sum(p.trim_ios) AS trim_ios,
       sum(p.read_bytes) AS read_bytes, sum(p.write_bytes) AS write_bytes, sum(p.trim_bytes) AS trim_bytes,
       sum(p.errors) AS errors
FROM runs AS r LEFT JOIN phases AS p USING (run)
GROUP BY r.run;

CREATE VIEW phase_summary AS
SELECT run, phase, name, action, rw, read_percent,
       read_block_bytes, write_block_bytes, trim_block_bytes, iodepth, numjobs, state,
       strftime('%Y-%m-%dT%H:%M:%fZ', started_at_ns / 1e9, 'unixepoch') AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', finished_at_ns / 1e9, 'unixepoch') AS finished_at,
       first_elapsed_ns / 1e9 AS from_s,
       elapsed_ns / 1e9 AS elapsed_s,
       n_samples, read_ios, write_ios, trim_ios, read_bytes, write_bytes, trim_bytes, errors,
       read_ios / (elapsed_ns / 1e9) AS read_iops_mean,
       write_ios / (elapsed_ns / 1e9) AS write_iops_mean,
       trim_ios / (elapsed_ns / 1e9) AS trim_iops_mean,
       latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_p999_ns, latency_max_ns
FROM phases;

CREATE VIEW sample_rates AS
SELECT run, seq, phase,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ns / 1e9, 'unixepoch') AS at,
       elapsed_ns / 1e9 AS elapsed_s,
       duration_ns / 1e9 AS duration_s,
       read_ios / (duration_ns / 1e9) AS read_iops,
       write_ios / (duration_ns / 1e9) AS write_iops,
       trim_ios / (duration_ns / 1e9) AS trim_iops,
       read_bytes / (duration_ns / 1e9) AS read_bytes_per_s,
       write_bytes / (duration_ns / 1e9) AS write_bytes_per_s,
       trim_bytes / (duration_ns / 1e9) AS trim_bytes_per_s,
       errors, in_flight, oldest_ns, latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_max_ns,
       cpu_percent, temperature_c
FROM samples;

CREATE VIEW event_log AS
SELECT event, run,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ns / 1e9, 'unixepoch') AS at,
       elapsed_ns / 1e9 AS elapsed_s,
       kind, detail
FROM events;

CREATE VIEW error_log AS
SELECT run, errno, count,
       strftime('%Y-%m-%dT%H:%M:%fZ', first_at_ns / 1e9, 'unixepoch') AS first_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_at_ns / 1e9, 'unixepoch') AS last_at,
       first_offset_bytes, last_offset_bytes
FROM errors;
