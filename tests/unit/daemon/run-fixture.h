/* SPDX-License-Identifier: MIT */
#pragma once

/* A manager with one run, and what the run's worker says. */

#include "manager.h"
#include "wire/message.h"

#define JOB "[w]\nrw=randwrite\nbs=4k\nruntime=6000\ntime_based\n"

extern Manager *manager;
extern const char *run_job; /* JOB, unless the test has another one */

void run_setup(void);
void run_teardown(void);
void open_manager(void);

/* What the worker says; int: what is made of it. */
int report(const char *path, const char *proof); /* proof: of a run that is taken up; else NULL */
void refuse(Refusal why);
void begin(uint32_t phase);
int sample_of(uint32_t phase, uint64_t seq, uint64_t elapsed_s);
int sample(uint64_t seq, uint64_t elapsed_s); /* of the first phase */
void die(void);

/* Run 7; that, with a second recorded. */
void told_to_go(void);
Run *running(void);

/* The same: its worker was killed, and another one has been asked to look. */
Run *looking(void);

/* It was found, and the worker told to go. */
void taken_up(void);
