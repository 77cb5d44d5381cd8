-- SPDX-License-Identifier: MIT
--
-- Version 6: what a run itself takes of the host, to tell a host that was the limit from a drive that was.

PRAGMA user_version = 6;

-- Of one core, so that several threads make more than 100; NULL: unknown.
ALTER TABLE samples ADD COLUMN worker_cpu_percent REAL; -- the whole worker, the kernel's helpers for it included
ALTER TABLE samples ADD COLUMN ring_cpu_percent REAL;   -- its ring thread that was busiest; at 100 it never waited

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
       cpu_percent, temperature_c, worker_cpu_percent, ring_cpu_percent
FROM samples;
