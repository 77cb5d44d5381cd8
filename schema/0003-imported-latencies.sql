-- SPDX-License-Identifier: MIT
--
-- Version 3: what another tool told of latencies is kept as it was told; a histogram would round it.

PRAGMA user_version = 3;

-- Means of an imported run, by direction; NULL: nothing completed, or nothing was told. Of other runs histograms tell.
ALTER TABLE samples ADD COLUMN read_latency_mean_ns INTEGER;
ALTER TABLE samples ADD COLUMN write_latency_mean_ns INTEGER;
ALTER TABLE samples ADD COLUMN trim_latency_mean_ns INTEGER;
