-- SPDX-License-Identifier: MIT
--
-- Version 11: whether the load wanted more of the drive, without which no host can have kept it waiting.

PRAGMA user_version = 11;

-- Of its duration, in which a rate, a computation or an idle phase held I/O back; NULL: unknown, and taken to be none.
ALTER TABLE samples ADD COLUMN held_percent REAL;

DROP VIEW sample_rates;
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
       cpu_percent, temperature_c, worker_cpu_percent, ring_cpu_percent, held_percent
FROM samples;
