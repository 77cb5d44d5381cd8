/* SPDX-License-Identifier: MIT */
#pragma once

/* The objects /org/plateau/Plateau1/run/N. */

#include <systemd/sd-bus.h>

#include "manager.h"

#define BUS_PATH "/org/plateau/Plateau1"
#define BUS_RUN_INTERFACE "org.plateau.Plateau1.Run"

#define RUN_BUS_PATH_MAX 64
const char *run_bus_path(const Run *run, char buf[static RUN_BUS_PATH_MAX]);

/* All runs that manager knows, now and later. 0 or a negative errno. */
int run_bus_add(sd_bus *bus, Manager *manager);

void run_bus_emit_added(sd_bus *bus, Run *run);
void run_bus_emit_changed(sd_bus *bus, Run *run, RunChange change);
void run_bus_emit_event(sd_bus *bus, Run *run, EventKind kind, const char *detail);
