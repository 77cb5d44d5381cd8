-- SPDX-License-Identifier: MIT
--
-- Version 7: time at the start of a phase that is recorded and not counted (ramp_time).

PRAGMA user_version = 7;

ALTER TABLE phases ADD COLUMN ramp_ns INTEGER NOT NULL DEFAULT 0 CHECK (ramp_ns >= 0); -- as planned

-- What the samples that began in it make of elapsed_ns, read_ios and so on, which hold all of a phase. Means leave it
-- out.
ALTER TABLE phases ADD COLUMN ramp_elapsed_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE phases ADD COLUMN ramp_read_ios INTEGER NOT NULL DEFAULT 0;
ALTER TABLE phases ADD COLUMN ramp_write_ios INTEGER NOT NULL DEFAULT 0;
ALTER TABLE phases ADD COLUMN ramp_trim_ios INTEGER NOT NULL DEFAULT 0;
ALTER TABLE phases ADD COLUMN ramp_read_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE phases ADD COLUMN ramp_write_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE phases ADD COLUMN ramp_trim_bytes INTEGER NOT NULL DEFAULT 0;

DROP VIEW phase_summary;
CREATE VIEW phase_summary AS
SELECT run, phase, name, action, rw, read_percent,
       read_block_bytes, write_block_bytes, trim_block_bytes, iodepth, numjobs, state,
       strftime('%Y-%m-%dT%H:%M:%fZ', started_at_ns / 1e9, 'unixepoch') AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', finished_at_ns / 1e9, 'unixepoch') AS finished_at,
       first_elapsed_ns / 1e9 AS from_s,
       elapsed_ns / 1e9 AS elapsed_s,
       n_samples, read_ios, write_ios, trim_ios, read_bytes, write_bytes, trim_bytes, errors,
       (read_ios - ramp_read_ios) / ((elapsed_ns - ramp_elapsed_ns) / 1e9) AS read_iops_mean,
       (write_ios - ramp_write_ios) / ((elapsed_ns - ramp_elapsed_ns) / 1e9) AS write_iops_mean,
       (trim_ios - ramp_trim_ios) / ((elapsed_ns - ramp_elapsed_ns) / 1e9) AS trim_iops_mean,
       latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_p999_ns, latency_max_ns, workers,
       ramp_elapsed_ns / 1e9 AS ramp_s
FROM phases;
