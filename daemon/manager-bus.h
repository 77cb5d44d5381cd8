/* SPDX-License-Identifier: MIT */
#pragma once

/* The service on the bus: its name, /org/plateau/Plateau1, and the runs below it. See docs/bus.md. */

#include "manager.h"

typedef struct ManagerBus ManagerBus;

/* The connection is gone for good. Called once, from the event loop. */
typedef void (*ManagerBusLostHandler)(void *userdata);

/*
 * Connects to the system bus (or the session bus), without a name: there may be no manager yet. ERROR_UNREACHABLE if
 * there is no bus.
 */
int manager_bus_new(ManagerBus **ret, sd_event *event, bool session, ManagerBusLostHandler lost, void *userdata,
                    Error *error);

/*
 * Shows the manager, which outlives the bus, under the service's name. Once. ERROR_FAILED if another plateaud has the
 * name, ERROR_NOT_PERMITTED if the bus's policy does not let us have it.
 */
int manager_bus_publish(ManagerBus *bus, Manager *manager, Error *error);

/* Sends what waits. Before the manager is freed. */
ManagerBus *manager_bus_free(ManagerBus *bus);
DEFINE_CLEANUP(ManagerBus *, manager_bus_free)
#define _cleanup_manager_bus_ _cleanup_(manager_bus_freep)
