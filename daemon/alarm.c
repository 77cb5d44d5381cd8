/* SPDX-License-Identifier: MIT */

#include "alarm.h"

#include <stdbool.h>

static AlarmNews alarm_tell(Alarm *alarm, AlarmNews news, uint64_t now_ns, uint64_t *ret_n_brief) {
        *ret_n_brief = alarm->n_brief;
        alarm->n_brief = 0;
        alarm->told_at_ns = now_ns;
        return news;
}

static AlarmNews alarm_look_well(Alarm *alarm, uint64_t now_ns, uint64_t *ret_n_brief) {
        bool was_told = alarm->told != 0;

        if (alarm->error != 0 && !was_told)
                alarm->n_brief++;
        alarm->error = alarm->told = alarm->told_before = 0;
        if (was_told) {
                *ret_n_brief = 0;
                return ALARM_OVER;
        }
        if (alarm->n_brief > 0 && now_ns - alarm->told_at_ns >= ALARM_HUSHED_NS)
                return alarm_tell(alarm, ALARM_BRIEF, now_ns, ret_n_brief);
        return ALARM_NOTHING;
}

/* Two errors may take turns: each is told once. */
static AlarmNews alarm_look_again(Alarm *alarm, int error, uint64_t *ret_n_brief) {
        if (error == alarm->told || error == alarm->told_before)
                return ALARM_NOTHING;

        alarm->told_before = alarm->told;
        alarm->told = error;
        *ret_n_brief = 0;
        return ALARM_TROUBLE;
}

AlarmNews alarm_look(Alarm *alarm, int error, uint64_t now_ns, uint64_t *ret_n_brief) {
        if (error == 0)
                return alarm_look_well(alarm, now_ns, ret_n_brief);

        if (alarm->error == 0)
                alarm->since_ns = now_ns;
        alarm->error = error;
        if (alarm->told != 0)
                return alarm_look_again(alarm, error, ret_n_brief);
        if (alarm->told_at_ns != 0 && now_ns - alarm->told_at_ns < ALARM_HUSHED_NS &&
            now_ns - alarm->since_ns < ALARM_LASTING_NS)
                return ALARM_NOTHING;

        alarm->told = error;
        return alarm_tell(alarm, ALARM_TROUBLE, now_ns, ret_n_brief);
}
