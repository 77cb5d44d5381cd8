-- SPDX-License-Identifier: MIT
--
-- Version 4: where the order of I/O stood, so that a run that was interrupted can be taken up again.

PRAGMA user_version = 4;

-- runs.device_path, device_name, disk_name, diskseq and boot_id are from now on those under which the device was found
-- last.
-- Of an interrupted run, whether the samples tell of all I/O that was submitted, and whether it was paused.
ALTER TABLE runs ADD COLUMN drained INTEGER NOT NULL DEFAULT 0 CHECK (drained IN (0, 1));
ALTER TABLE runs ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));

-- As of the phase's newest sample; zeros before the first one, and for imported runs. Indices count the phase's I/Os.
ALTER TABLE phases ADD COLUMN first_index INTEGER NOT NULL DEFAULT 0;  -- where it began, or went on after the last gap
ALTER TABLE phases ADD COLUMN low_index INTEGER NOT NULL DEFAULT 0;    -- the lowest that had not completed
ALTER TABLE phases ADD COLUMN next_index INTEGER NOT NULL DEFAULT 0;   -- the next to be submitted
ALTER TABLE phases ADD COLUMN next_write INTEGER NOT NULL DEFAULT 0;   -- number of the run's next write
ALTER TABLE phases ADD COLUMN issued_bytes INTEGER NOT NULL DEFAULT 0; -- towards the phase's limit
ALTER TABLE phases ADD COLUMN settled_from INTEGER NOT NULL DEFAULT 0; -- from this index up to the next one
ALTER TABLE phases ADD COLUMN settled_to INTEGER NOT NULL DEFAULT 0;   -- all had completed 30 s before
ALTER TABLE phases ADD COLUMN boot_ns INTEGER NOT NULL DEFAULT 0;      -- CLOCK_BOOTTIME then, of the boot in boot_id
