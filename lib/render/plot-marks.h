/* SPDX-License-Identifier: MIT */
#pragma once

/* The lines below a plot that say what happened when. */

#include "render/plot-axis.h"
#include "render/plot.h"

/* Marks outside of the axis are left out. indent: the column at which the axis begins; columns: its width. -ENOMEM. */
int marks_print(FILE *f, const PlotOptions *options, const TimeAxis *axis, unsigned indent, unsigned columns);
