-- SPDX-License-Identifier: MIT
--
-- Version 5: a phase may be driven by several ring threads, each of which has an order of I/O of its own.

PRAGMA user_version = 5;

ALTER TABLE phases ADD COLUMN workers INTEGER NOT NULL DEFAULT 1 CHECK (workers > 0); -- ring threads

-- Where the order of I/O of each ring thread's share of a phase stood as of the phase's newest sample. No rows before
-- the first one, and for imported runs. Indices count the share's I/Os.
CREATE TABLE positions (
        run INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        share INTEGER NOT NULL CHECK (share >= 0), -- number of the ring thread, from 0
        first_index INTEGER NOT NULL,         -- where it began, or went on after the last gap
        low_index INTEGER NOT NULL,           -- the lowest that had not completed
        next_index INTEGER NOT NULL,          -- the next to be submitted
        next_write INTEGER NOT NULL,          -- number of its next write; no two writes of a run have the same
        issued_bytes INTEGER NOT NULL,        -- towards the share's limit
        settled_from INTEGER NOT NULL,        -- from this index up to the next one
        settled_to INTEGER NOT NULL,          -- all had completed 30 s before
        PRIMARY KEY (run, phase, share),
        FOREIGN KEY (run, phase) REFERENCES phases (run, phase) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

INSERT INTO positions
SELECT run, phase, 0, first_index, low_index, next_index, next_write, issued_bytes, settled_from, settled_to
FROM phases WHERE next_index > 0;

ALTER TABLE phases DROP COLUMN first_index;
ALTER TABLE phases DROP COLUMN low_index;
ALTER TABLE phases DROP COLUMN next_index;
ALTER TABLE phases DROP COLUMN next_write;
ALTER TABLE phases DROP COLUMN issued_bytes;
ALTER TABLE phases DROP COLUMN settled_from;
ALTER TABLE phases DROP COLUMN settled_to;

DROP VIEW phase_summary;
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
       latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_p999_ns, latency_max_ns, workers
FROM phases;
