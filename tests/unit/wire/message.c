/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"
#include "util/macro.h"
#include "wire/message.h"

static char *no_strings[] = { NULL };
static char *two_strings[] = { (char *) "SER\xff\n1", (char *) "", NULL };

static DeviceInfo full_info = {
        .path = (char *) "/dev/sda1", .name = (char *) "sda1", .disk_name = (char *) "sda",
        .major = 8, .minor = 1, .partition = 1, .namespace_id = UINT32_MAX, .n_namespaces = 2,
        .model = (char *) "M\x1b[31m", .serial = (char *) "S", .wwn = (char *) "W", .firmware = (char *) "F",
        .diskseq = UINT64_MAX, .size_bytes = UINT64_C(64) << 40, .logical_block_bytes = 512,
        .physical_block_bytes = 4096, .rotational = true, .read_only = true, .zoned = true,
        .transport = (char *) "sata", .link = (char *) "6.0 Gbps", .host_driver = (char *) "ahci",
        .scheduler = (char *) "none", .write_cache = (char *) "write back", .read_ahead_kib = 128, .nr_requests = 64,
};

static DeviceInfo bare_info = {
        .path = (char *) "/dev/loop0", .name = (char *) "loop0", .disk_name = (char *) "loop0",
        .size_bytes = 1, .logical_block_bytes = 4096,
};

static Sample sample = {
        .seq = 41, .phase = 2, .at_ns = -5, .elapsed_ns = 42000000000, .duration_ns = 1000000001,
        .ios = { 3, 4, 0 }, .bytes = { 12288, 16384, 0 }, .errors = 5, .in_flight = 64, .oldest_ns = 7,
        .cpu_percent = 12.5, .temperature_c = NAN,
        .latency = { [DIRECTION_READ] = { .buckets = { [5] = 3 } },
                     [DIRECTION_WRITE] = { .buckets = { [900] = 1, [HISTOGRAM_N_BUCKETS - 1] = 3 } } },
};

static PhaseStanding phase_standings[] = {
        { 5, UINT64_MAX, { 1, { { 1, 2, 3, 4, 5, 6, 7 } } }, { { 20, 21, 22 }, 23, 24, 25, 26, 1 } },
        { 6, 8, { 2, { { 9, 10, 11, 12, 13, 14, 15 }, { 16, 17, 18, 19, 20, 21, UINT64_MAX } } },
          { { 27, 28, 29 }, 30, UINT64_MAX, 31, UINT32_MAX, 2 } },
};

static Standing standing = {
        .device = &bare_info, .same_boot = true, .run_tag = 1, .seed = UINT64_MAX, .drained = true, .paused = true,
        .next_seq = 77, .elapsed_ns = 78, .n_errors = 79, .n_writes = 80, .written_bytes = 81, .phase = 1,
        .n_phases = 2, .phases = phase_standings,
};

#define OPEN(confirmations_, erase, standing_)                                                             \
        { .type = MESSAGE_OPEN,                                                                           \
          .open = { MESSAGE_VERSION, (char *) "/dev/sda", confirmations_, erase, (char *) "job", (char *) "[a]\n", \
                    two_strings, standing_ } }

/* At least one of every type. */
static Message messages[] = {
        OPEN(two_strings, true, NULL),
        OPEN(no_strings, false, NULL),
        { .type = MESSAGE_REPORT, .report = { &full_info, two_strings, (char *) "2 blocks" } },
        { .type = MESSAGE_REPORT, .report = { &bare_info, no_strings, NULL } },
        { .type = MESSAGE_REFUSED, .refused = { REFUSAL_FINAL, ERROR_USAGE, (char *) "" } },
        { .type = MESSAGE_REFUSED, .refused = { REFUSAL_BUSY, ERROR_FAILED, (char *) "mounted at /" } },
        { .type = MESSAGE_GO, .go = { UINT64_MAX, 0 } },
        { .type = MESSAGE_STARTED, .started = { INT64_MIN } },
        { .type = MESSAGE_PAUSE },
        { .type = MESSAGE_RESUME },
        { .type = MESSAGE_STOP },
        { .type = MESSAGE_PHASE, .phase = { JOB_N_PHASES_MAX - 1, PHASE_MARK_STOPPED, INT64_MIN } },
        { .type = MESSAGE_SAMPLE, .sample = &sample },
        { .type = MESSAGE_ERRNO, .errnum = { 4095, UINT64_MAX, -1, INT64_MAX, 0, UINT64_MAX } },
        { .type = MESSAGE_EVENT, .event = { OCCURRENCE_STOPPING, 1, 2, (char *) "64 I/Os are pending" } },
        { .type = MESSAGE_FINISHED, .finished = { OUTCOME_LOST, (char *) "gone" } },
        OPEN(no_strings, false, &standing), /* 16 */
        { .type = MESSAGE_END_PHASE, .end_phase = { JOB_N_PHASES_MAX - 1 } },
        { .type = MESSAGE_HISTORY, .history = { 3, 31, { .ceiling = 1000, .reach = 900, .flushed = 800, .n_maybes = 2,
                                                        .maybes = { { 5, 7 }, { 9, 1000 } } } } },
        { .type = MESSAGE_RECORDED, .recorded = { 3, 31, UINT64_MAX } },
        { .type = MESSAGE_VERIFICATION,
          .verification = { 3, { 0, UINT64_MAX, { 1, 2, 3, UINT64_MAX } } } },
        { .type = MESSAGE_FINDING, .finding = { 3, MISMATCH_LOST, 4096, 512, (char *) "lost at offset 4096" } },
        { .type = MESSAGE_END_RUN, .end_run = { JOB_N_PHASES_MAX - 1, (char *) "[stop] for a reason" } },
        { .type = MESSAGE_PENDING, .pending = { UINT32_MAX, UINT64_MAX - 1 } },
};

static uint8_t buf[MESSAGE_BYTES_MAX];

static size_t encoded(const Message *message) {
        ssize_t n = message_encode(message, buf, sizeof(buf));
        ck_assert_int_gt(n, 0);
        return (size_t) n;
}

static void assert_refused(size_t length) {
        Message message;

        memset(&message, 0xa5, sizeof(message));
        ck_assert_int_eq(message_decode(&message, buf, length), -EBADMSG);

        /* Empty: clearing it again is harmless, and finds nothing. */
        static const Message empty;
        ck_assert_int_eq(memcmp(&message, &empty, sizeof(message)), 0);
        message_clear(&message);
}

static void assert_same_string(const char *a, const char *b) {
        ck_assert_int_eq(a == NULL, b == NULL);
        if (a)
                ck_assert_str_eq(a, b);
}

static void assert_same_strings(char *const *a, char *const *b) {
        for (; *a && *b; a++, b++)
                ck_assert_str_eq(*a, *b);
        ck_assert_ptr_eq(*a, *b);
}

static void assert_same_info(const DeviceInfo *a, const DeviceInfo *b) {
        static const size_t strings[] = {
                offsetof(DeviceInfo, path), offsetof(DeviceInfo, name), offsetof(DeviceInfo, disk_name),
                offsetof(DeviceInfo, model), offsetof(DeviceInfo, serial), offsetof(DeviceInfo, wwn),
                offsetof(DeviceInfo, firmware), offsetof(DeviceInfo, transport), offsetof(DeviceInfo, link),
                offsetof(DeviceInfo, host_driver), offsetof(DeviceInfo, scheduler), offsetof(DeviceInfo, write_cache),
        };

        for (size_t i = 0; i < ELEMENTSOF(strings); i++)
                assert_same_string(*(char *const *) ((const char *) a + strings[i]),
                                   *(char *const *) ((const char *) b + strings[i]));
        ck_assert_uint_eq(a->major, b->major);
        ck_assert_uint_eq(a->minor, b->minor);
        ck_assert_uint_eq(a->partition, b->partition);
        ck_assert_uint_eq(a->namespace_id, b->namespace_id);
        ck_assert_uint_eq(a->n_namespaces, b->n_namespaces);
        ck_assert_uint_eq(a->diskseq, b->diskseq);
        ck_assert_uint_eq(a->size_bytes, b->size_bytes);
        ck_assert_uint_eq(a->logical_block_bytes, b->logical_block_bytes);
        ck_assert_uint_eq(a->physical_block_bytes, b->physical_block_bytes);
        ck_assert(a->rotational == b->rotational && a->read_only == b->read_only && a->zoned == b->zoned);
        ck_assert_uint_eq(a->read_ahead_kib, b->read_ahead_kib);
        ck_assert_uint_eq(a->nr_requests, b->nr_requests);
}

static void assert_same_standing(const Standing *a, const Standing *b) {
        ck_assert_int_eq(a == NULL, b == NULL);
        if (!a)
                return;
        assert_same_info(a->device, b->device);
        ck_assert(a->same_boot == b->same_boot && a->drained == b->drained && a->paused == b->paused);
        ck_assert_uint_eq(a->run_tag, b->run_tag);
        ck_assert_uint_eq(a->seed, b->seed);
        ck_assert_uint_eq(a->next_seq, b->next_seq);
        ck_assert_uint_eq(a->elapsed_ns, b->elapsed_ns);
        ck_assert_uint_eq(a->n_writes, b->n_writes);
        ck_assert_uint_eq(a->written_bytes, b->written_bytes);
        ck_assert_uint_eq(a->n_errors, b->n_errors);
        ck_assert_uint_eq(a->phase, b->phase);
        ck_assert_uint_eq(a->n_phases, b->n_phases);
        ck_assert_int_eq(memcmp(a->phases, b->phases, a->n_phases * sizeof(*a->phases)), 0);
}

static void assert_same(const Message *a, const Message *b) {
        ck_assert_int_eq(a->type, b->type);

        switch (a->type) {
        case MESSAGE_OPEN:
                ck_assert_uint_eq(a->open.version, b->open.version);
                ck_assert_str_eq(a->open.path, b->open.path);
                assert_same_strings(a->open.confirmations, b->open.confirmations);
                assert_same_strings(a->open.deny, b->open.deny);
                ck_assert(a->open.erase_existing == b->open.erase_existing);
                ck_assert_str_eq(a->open.job_name, b->open.job_name);
                ck_assert_str_eq(a->open.job_text, b->open.job_text);
                assert_same_standing(a->open.standing, b->open.standing);
                break;
        case MESSAGE_REPORT:
                assert_same_info(a->report.info, b->report.info);
                assert_same_strings(a->report.notices, b->report.notices);
                assert_same_string(a->report.proof, b->report.proof);
                break;
        case MESSAGE_REFUSED:
                ck_assert_int_eq(a->refused.why, b->refused.why);
                ck_assert_int_eq(a->refused.kind, b->refused.kind);
                ck_assert_str_eq(a->refused.text, b->refused.text);
                break;
        case MESSAGE_GO:
                ck_assert_uint_eq(a->go.run_tag, b->go.run_tag);
                ck_assert_uint_eq(a->go.seed, b->go.seed);
                break;
        case MESSAGE_STARTED:
                ck_assert_int_eq(a->started.at_ns, b->started.at_ns);
                break;
        case MESSAGE_PHASE:
                ck_assert_uint_eq(a->phase.index, b->phase.index);
                ck_assert_int_eq(a->phase.mark, b->phase.mark);
                ck_assert_int_eq(a->phase.at_ns, b->phase.at_ns);
                break;
        case MESSAGE_SAMPLE:
                ck_assert_uint_eq(a->sample->seq, b->sample->seq);
                ck_assert_uint_eq(a->sample->duration_ns, b->sample->duration_ns);
                ck_assert_int_eq(memcmp(a->sample->ios, b->sample->ios, sizeof(a->sample->ios)), 0);
                ck_assert_int_eq(memcmp(a->sample->latency, b->sample->latency, sizeof(a->sample->latency)), 0);
                break;
        case MESSAGE_ERRNO:
                ck_assert_int_eq(a->errnum.errnum, b->errnum.errnum);
                ck_assert_uint_eq(a->errnum.count, b->errnum.count);
                ck_assert_int_eq(a->errnum.first_at_ns, b->errnum.first_at_ns);
                ck_assert_int_eq(a->errnum.last_at_ns, b->errnum.last_at_ns);
                ck_assert_uint_eq(a->errnum.first_offset, b->errnum.first_offset);
                ck_assert_uint_eq(a->errnum.last_offset, b->errnum.last_offset);
                break;
        case MESSAGE_EVENT:
                ck_assert_int_eq(a->event.kind, b->event.kind);
                ck_assert_int_eq(a->event.at_ns, b->event.at_ns);
                ck_assert_uint_eq(a->event.elapsed_ns, b->event.elapsed_ns);
                ck_assert_str_eq(a->event.detail, b->event.detail);
                break;
        case MESSAGE_FINISHED:
                ck_assert_int_eq(a->finished.outcome, b->finished.outcome);
                ck_assert_str_eq(a->finished.detail, b->finished.detail);
                break;
        case MESSAGE_PENDING:
                ck_assert_uint_eq(a->pending.n, b->pending.n);
                ck_assert_uint_eq(a->pending.oldest_ns, b->pending.oldest_ns);
                break;
        case MESSAGE_END_RUN:
                ck_assert_uint_eq(a->end_run.index, b->end_run.index);
                ck_assert_str_eq(a->end_run.detail, b->end_run.detail);
                break;
        default:
                break;
        }
}

START_TEST(test_round_trip) {
        _cleanup_message_ Message decoded = {};

        size_t length = encoded(&messages[_i]);
        ck_assert_int_eq(message_decode(&decoded, buf, length), 0);
        assert_same(&messages[_i], &decoded);
}
END_TEST

START_TEST(test_every_type_is_tried) {
        bool seen[N_MESSAGE_TYPES] = {};

        for (size_t i = 0; i < ELEMENTSOF(messages); i++)
                seen[messages[i].type] = true;
        for (size_t i = 0; i < N_MESSAGE_TYPES; i++)
                ck_assert_msg(seen[i], "type %zu", i);
}
END_TEST

/* Memory whose end no read can pass: what follows `end` is not there. */
#define GUARDED_BYTES (64 * KIB)
static uint8_t *guarded_end(void) {
        uint8_t *p = mmap(NULL, GUARDED_BYTES + 64 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        ck_assert_ptr_ne(p, MAP_FAILED);
        ck_assert_int_eq(mprotect(p + GUARDED_BYTES, 64 * KIB, PROT_NONE), 0);
        return p + GUARDED_BYTES;
}

START_TEST(test_truncated) {
        size_t length = encoded(&messages[_i]);
        uint8_t *end = guarded_end();

        ck_assert_uint_le(length, GUARDED_BYTES);
        for (size_t cut = 0; cut < length; cut++) {
                Message decoded;

                memcpy(end - cut, buf, cut);
                ck_assert_int_eq(message_decode(&decoded, end - cut, cut), -EBADMSG);
        }
}
END_TEST

START_TEST(test_bytes_left_over) {
        size_t length = encoded(&messages[_i]);

        buf[length] = 0;
        assert_refused(length + 1);
}
END_TEST

START_TEST(test_buffer_too_small) {
        size_t length = encoded(&messages[_i]);

        for (size_t size = 0; size < length; size += length > 4096 ? 997 : 1) {
                uint8_t *exact = malloc(size > 0 ? size : 1);

                ck_assert_ptr_nonnull(exact);
                ck_assert_int_eq(message_encode(&messages[_i], exact, size), -EMSGSIZE);
                free(exact);
        }
}
END_TEST

START_TEST(test_unknown_type) {
        buf[0] = N_MESSAGE_TYPES;
        assert_refused(1);
        buf[0] = 0xff;
        assert_refused(1);
}
END_TEST

/* Replaces `width` bytes at `at`, little endian. */
static void poke(size_t at, uint64_t value, unsigned width) {
        for (unsigned i = 0; i < width; i++)
                buf[at + i] = (uint8_t) (value >> (8 * i));
}

START_TEST(test_hostile_lengths) {
        static const uint32_t lengths[] = { 9, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
        Message open = OPEN(two_strings, true, NULL);

        for (size_t i = 0; i < ELEMENTSOF(lengths); i++) {
                size_t length = encoded(&open);
                size_t path_at = 1 + 4, count_at = path_at + 4 + strlen("/dev/sda");

                poke(path_at, lengths[i], 4);
                assert_refused(length);

                encoded(&open);
                poke(count_at, lengths[i], 4);
                assert_refused(length);

                Message with_sample = { .type = MESSAGE_SAMPLE, .sample = &sample };
                length = encoded(&with_sample);
                poke(1, lengths[i], 4);
                assert_refused(length);
        }
}
END_TEST

START_TEST(test_nul_in_string) {
        Message finished = { .type = MESSAGE_FINISHED, .finished = { OUTCOME_DONE, (char *) "abc" } };
        size_t length = encoded(&finished);

        buf[length - 2] = 0;
        assert_refused(length);
}
END_TEST

START_TEST(test_impossible_values) {
        static const struct {
                size_t message;
                size_t at;
                uint64_t value;
                unsigned width;
        } pokes[] = {
                { 1, 1 + 4 + 4 + 8 + 4, 2, 1 },       /* open.erase_existing */
                { 4, 1, N_REFUSALS, 1 },              /* refused.why */
                { 4, 2, ERROR_NONE, 1 },              /* refused.kind */
                { 4, 2, 1, 1 },
                { 4, 2, ERROR_FAILED + 1, 1 },
                { 6, 1, 0, 8 },                       /* go.run_tag */
                { 11, 1, JOB_N_PHASES_MAX, 4 },       /* phase.index */
                { 11, 1 + 4, N_PHASE_MARKS, 1 },
                { 13, 1, 0, 4 },                      /* errnum */
                { 13, 1, 4096, 4 },
                { 13, 1, UINT32_MAX, 4 },
                { 13, 1 + 4, 0, 8 },                  /* its count */
                { 14, 1, N_OCCURRENCES, 1 },
                { 15, 1, N_OUTCOMES, 1 },
                { 18, 1 + 4 + 4, 999, 8 },            /* history.ceiling, below a maybe */
                { 18, 1 + 4 + 4 + 8, 1001, 8 },       /* its reach */
                { 18, 1 + 4 + 4 + 24, HISTORY_N_MAYBES_MAX + 1, 4 },
                { 18, 1 + 4 + 4 + 28, 7, 8 },         /* a range of nothing */
                { 21, 1 + 4, N_MISMATCHES, 1 },       /* finding.kind */
                { 22, 1, JOB_N_PHASES_MAX, 4 },       /* end_run.index */
        };

        size_t length = encoded(&messages[pokes[_i].message]);
        poke(pokes[_i].at, pokes[_i].value, pokes[_i].width);
        assert_refused(length);
}
END_TEST

/* The most phases and ring threads that a job can have, with all that can be told of each. */
START_TEST(test_the_largest_standing_fits) {
        _cleanup_standing_ Standing *largest = standing_new(JOB_N_PHASES_MAX);
        Message open = OPEN(no_strings, false, largest);
        _cleanup_free_ char *text = malloc(JOB_TEXT_MAX + 1);

        ck_assert(largest && text);
        memset(text, 'x', JOB_TEXT_MAX);
        text[JOB_TEXT_MAX] = '\0';
        open.open.job_text = text;
        *largest->device = bare_info;
        largest->run_tag = 1;
        for (uint32_t i = 0; i < JOB_N_PHASES_MAX; i++)
                largest->phases[i].positions.n = largest->phases[i].shape.workers =
                        i < JOB_N_SHARES_MAX - JOB_N_PHASES_MAX ? 2 : 1;
        ck_assert_int_eq(standing_make_histories(largest), 0);
        for (uint32_t i = 0; i < JOB_N_PHASES_MAX; i++)
                for (uint32_t k = 0; k < largest->phases[i].shape.workers; k++) {
                        History *history = histories_at(largest->histories, i, k);

                        history->ceiling = history->reach = 1000;
                        for (history->n_maybes = 0; history->n_maybes < HISTORY_N_MAYBES_MAX; history->n_maybes++)
                                history->maybes[history->n_maybes] = (IndexRange){ 2 * history->n_maybes,
                                                                                   2 * history->n_maybes + 1 };
                }
        ck_assert_int_gt(message_encode(&open, buf, sizeof(buf)), JOB_TEXT_MAX);
        *largest->device = (DeviceInfo){};
}
END_TEST

/* Its length decides what is allocated, so it must be held against the bound first. */
START_TEST(test_impossible_standing) {
        Standing bad = standing;
        Message without = OPEN(no_strings, false, NULL), with = OPEN(no_strings, false, &bad);
        size_t at = encoded(&without) - 4, length = encoded(&with);

        poke(at, 0, 4); /* none, and then what follows is left over */
        assert_refused(length);
        poke(at, 1, 4);
        assert_refused(length);
        poke(at, JOB_N_PHASES_MAX + 1, 4);
        assert_refused(length);

        bad.phase = bad.n_phases;
        encoded(&with);
        bad.phase++;
        ck_assert_int_eq(message_encode(&with, buf, sizeof(buf)), -EINVAL);
        bad.phase = 0;
        bad.run_tag = 0;
        ck_assert_int_eq(message_encode(&with, buf, sizeof(buf)), -EINVAL);
}
END_TEST

/* Encoding is held to the same rules, so neither side can send what the other would refuse. */
START_TEST(test_impossible_device) {
        DeviceInfo info = bare_info;
        Message report = { .type = MESSAGE_REPORT, .report = { &info, no_strings } };

        encoded(&report);
        info.size_bytes = 0;
        ck_assert_int_eq(message_encode(&report, buf, sizeof(buf)), -EINVAL);
        info.size_bytes = 1;
        info.logical_block_bytes = 0;
        ck_assert_int_eq(message_encode(&report, buf, sizeof(buf)), -EINVAL);
        info.logical_block_bytes = 520;
        ck_assert_int_eq(message_encode(&report, buf, sizeof(buf)), -EINVAL);
        info.logical_block_bytes = 256;
        ck_assert_int_eq(message_encode(&report, buf, sizeof(buf)), -EINVAL);
        info.logical_block_bytes = 512;
        info.name = NULL;
        ck_assert_int_eq(message_encode(&report, buf, sizeof(buf)), -EINVAL);
}
END_TEST

START_TEST(test_other_version) {
        _cleanup_message_ Message decoded = {};
        Message open = OPEN(two_strings, true, NULL);
        size_t length = encoded(&open);

        poke(1, MESSAGE_VERSION + 1, 4);
        buf[length] = 0x77; /* whatever that version may add */
        ck_assert_int_eq(message_decode(&decoded, buf, length + 1), 0);
        ck_assert_uint_eq(decoded.open.version, MESSAGE_VERSION + 1);
        ck_assert_ptr_null(decoded.open.path);
}
END_TEST

START_TEST(test_sample_malformed) {
        Message with_sample = { .type = MESSAGE_SAMPLE, .sample = &sample };
        size_t length = encoded(&with_sample);

        /* The blob's own length agrees, but the sample in it is cut. */
        poke(1, length - 1 - 4 - 1, 4);
        assert_refused(length - 1);
}
END_TEST

static Suite *make_suite(void) {
        Suite *suite = suite_create("message");
        TCase *tc = tcase_create("message");
        int n = (int) ELEMENTSOF(messages);

        tcase_set_timeout(tc, 60);
        tcase_add_loop_test(tc, test_round_trip, 0, n);
        tcase_add_test(tc, test_every_type_is_tried);
        tcase_add_loop_test(tc, test_truncated, 0, n);
        tcase_add_loop_test(tc, test_bytes_left_over, 0, n);
        tcase_add_loop_test(tc, test_buffer_too_small, 0, n);
        tcase_add_test(tc, test_unknown_type);
        tcase_add_test(tc, test_hostile_lengths);
        tcase_add_test(tc, test_nul_in_string);
        tcase_add_loop_test(tc, test_impossible_values, 0, 20);
        tcase_add_test(tc, test_the_largest_standing_fits);
        tcase_add_test(tc, test_impossible_standing);
        tcase_add_test(tc, test_impossible_device);
        tcase_add_test(tc, test_other_version);
        tcase_add_test(tc, test_sample_malformed);
        suite_add_tcase(suite, tc);
        return suite;
}

UNIT_TEST_MAIN(make_suite)
