/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How much is told of a trouble that comes and goes, so that one that does so for days fills neither log nor database:
 * the first one is told of at once, as is its end. From then on, for an hour, only one that lasts for a minute is told
 * of, and its end; shorter ones are counted, and the count is told with the next one or when the hour is over.
 */

#include <stdint.h>

#include "util/macro.h"

#define ALARM_HUSHED_NS (3600 * NSEC_PER_SEC)
#define ALARM_LASTING_NS (60 * NSEC_PER_SEC)

typedef enum AlarmNews {
        ALARM_NOTHING,
        ALARM_TROUBLE, /* it has come, or goes on with another error */
        ALARM_OVER,    /* the one that was told of */
        ALARM_BRIEF,   /* none now; short ones came and went */
} AlarmNews;

/* All zeros before the first look. */
typedef struct Alarm {
        int error;             /* at the last look; 0: no trouble */
        int told, told_before; /* errors of the trouble going on; 0: it was not told of */
        uint64_t since_ns;     /* it goes on */
        uint64_t told_at_ns;   /* when a trouble was last told of as new; 0: never */
        uint64_t n_brief;      /* have come and gone untold */
} Alarm;

/*
 * To be called when something may have changed, and once a second. error: negative errno, 0 if all is well. now_ns:
 * monotonic. With news, *ret_n_brief is how many short ones came and went untold before.
 */
AlarmNews alarm_look(Alarm *alarm, int error, uint64_t now_ns, uint64_t *ret_n_brief);
