/* SPDX-License-Identifier: MIT */

/*
 * Each message is described once, for both directions (wire/codec.h). Encoding works on a shallow
 * copy of the message, whose fields are only read.
 */

#include "wire/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "spec/job.h"
#include "util/macro.h"
#include "wire/codec.h"

/* The kernel's largest (MAX_ERRNO). */
#define ERRNUM_MAX 4095

static void device_info_code(Codec *codec, DeviceInfo *info);

static void position_code(Codec *codec, Position *position) {
        codec_u64(codec, &position->first_index);
        codec_u64(codec, &position->low_index);
        codec_u64(codec, &position->next_index);
        codec_u64(codec, &position->next_write);
        codec_u64(codec, &position->done_bytes);
        codec_u64(codec, &position->settled_from);
        codec_u64(codec, &position->settled_to);
}

static void positions_code(Codec *codec, Positions *positions) {
        uint32_t n = positions->n;

        codec_u32(codec, &n);
        if (n > ELEMENTSOF(positions->of)) {
                codec_refuse(codec);
                return;
        }
        positions->n = n;
        for (uint32_t i = 0; i < n; i++)
                position_code(codec, &positions->of[i]);
}

static void shape_code(Codec *codec, PhaseShape *shape) {
        for (Direction d = 0; d < N_DIRECTIONS; d++)
                codec_u64(codec, &shape->block_bytes[d]);
        codec_u64(codec, &shape->region_offset);
        codec_u64(codec, &shape->region_bytes);
        codec_u32(codec, &shape->iodepth);
        codec_u32(codec, &shape->numjobs);
        codec_u32(codec, &shape->workers);
        codec_u64(codec, &shape->order_hash);
}

static void history_code(Codec *codec, History *history) {
        codec_u64(codec, &history->ceiling);
        codec_u64(codec, &history->reach);
        codec_u64(codec, &history->flushed);
        codec_u32(codec, &history->n_maybes);
        if (history->n_maybes > HISTORY_N_MAYBES_MAX) {
                codec_refuse(codec);
                return;
        }
        for (uint32_t i = 0; i < history->n_maybes; i++) {
                codec_u64(codec, &history->maybes[i].from);
                codec_u64(codec, &history->maybes[i].to);
        }
        if (codec->error == 0 && !history_is_valid(history))
                codec_refuse(codec);
}

static void verification_fields_code(Codec *codec, Verification *verification) {
        codec_u64(codec, &verification->checked_bytes);
        for (unsigned i = 0; i < N_MISMATCHES; i++)
                codec_u64(codec, &verification->n_blocks[i]);
}

/* Of a standing that has none they are those of phases that have not begun. */
static void histories_code(Codec *codec, Standing *standing) {
        if (codec->error == 0 && codec_is_decoding(codec) && standing_make_histories(standing) < 0)
                codec->error = -ENOMEM;
        for (uint32_t p = 0; p < standing->n_phases; p++)
                for (uint32_t k = 0; codec->error == 0 && k < standing->phases[p].shape.workers; k++) {
                        History none = history_new();
                        History *history = standing->histories ? histories_at(standing->histories, p, k) : &none;

                        if (history)
                                history_code(codec, history);
                        else
                                codec_refuse(codec);
                }
}

static void standing_fields_code(Codec *codec, Standing *standing) {
        device_info_code(codec, standing->device);
        codec_bool(codec, &standing->same_boot);
        codec_u64(codec, &standing->run_tag);
        codec_u64(codec, &standing->seed);
        codec_bool(codec, &standing->drained);
        codec_bool(codec, &standing->paused);
        codec_u64(codec, &standing->next_seq);
        codec_u64(codec, &standing->elapsed_ns);
        codec_u64(codec, &standing->n_writes);
        codec_u64(codec, &standing->written_bytes);
        codec_u64(codec, &standing->n_errors);
        codec_u32(codec, &standing->phase);
        for (uint32_t i = 0; i < standing->n_phases; i++) {
                codec_u64(codec, &standing->phases[i].elapsed_ns);
                codec_u64(codec, &standing->phases[i].boot_ns);
                positions_code(codec, &standing->phases[i].positions);
                shape_code(codec, &standing->phases[i].shape);
                verification_fields_code(codec, &standing->phases[i].verified);
        }
        histories_code(codec, standing);
        if (codec->error == 0 && (standing->run_tag == 0 || standing->phase > standing->n_phases))
                codec_refuse(codec);
}

/* None is one of no phases: no job is without any. */
static void standing_code(Codec *codec, Standing **standing) {
        uint32_t n_phases = codec_is_decoding(codec) || !*standing ? 0 : (*standing)->n_phases;

        codec_u32(codec, &n_phases);
        if (codec->error < 0 || (n_phases == 0 && !*standing))
                return;
        if (n_phases == 0 || n_phases > JOB_N_PHASES_MAX) {
                codec_refuse(codec);
                return;
        }
        if (codec_is_decoding(codec))
                *standing = standing_new(n_phases);
        if (*standing)
                standing_fields_code(codec, *standing);
        else
                codec->error = -ENOMEM;
}

static void open_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->open.version);

        /* Another build may write the rest in another way; whoever gets it can still name both versions. */
        if (codec_is_decoding(codec) && message->open.version != MESSAGE_VERSION) {
                codec->at = codec->size;
                return;
        }

        codec_string(codec, &message->open.path);
        codec_strings(codec, &message->open.confirmations);
        codec_bool(codec, &message->open.erase_existing);
        codec_string(codec, &message->open.job_name);
        codec_string(codec, &message->open.job_text);
        codec_strings(codec, &message->open.deny);
        standing_code(codec, &message->open.standing);
}

static void device_info_code(Codec *codec, DeviceInfo *info) {
        codec_string(codec, &info->path);
        codec_string(codec, &info->name);
        codec_string(codec, &info->disk_name);
        codec_u32(codec, &info->major);
        codec_u32(codec, &info->minor);
        codec_u32(codec, &info->partition);
        codec_u32(codec, &info->namespace_id);
        codec_u32(codec, &info->n_namespaces);

        codec_string_or_null(codec, &info->model);
        codec_string_or_null(codec, &info->serial);
        codec_string_or_null(codec, &info->wwn);
        codec_string_or_null(codec, &info->firmware);
        codec_u64(codec, &info->diskseq);

        codec_u64(codec, &info->size_bytes);
        codec_u32(codec, &info->logical_block_bytes);
        codec_u32(codec, &info->physical_block_bytes);
        codec_bool(codec, &info->rotational);
        codec_bool(codec, &info->read_only);
        codec_bool(codec, &info->zoned);

        codec_string_or_null(codec, &info->transport);
        codec_string_or_null(codec, &info->link);
        codec_string_or_null(codec, &info->host_driver);
        codec_string_or_null(codec, &info->scheduler);
        codec_string_or_null(codec, &info->write_cache);
        codec_u32(codec, &info->read_ahead_kib);
        codec_u32(codec, &info->nr_requests);
        codec_u64(codec, &info->discard_max_bytes);
        codec_u32(codec, &info->discard_granularity_bytes);

        /* No device that was claimed is without a size, or has blocks that are no power of two. */
        uint32_t block = info->logical_block_bytes;
        if (codec->error == 0 && (info->size_bytes == 0 || block < 512 || (block & (block - 1)) != 0))
                codec_refuse(codec);
}

static void report_code(Codec *codec, Message *message) {
        if (codec_is_decoding(codec)) {
                message->report.info = calloc(1, sizeof(*message->report.info));
                if (!message->report.info) {
                        codec->error = -ENOMEM;
                        return;
                }
        }

        device_info_code(codec, message->report.info);
        codec_strings(codec, &message->report.notices);
        codec_string_or_null(codec, &message->report.proof);
}

static void refused_code(Codec *codec, Message *message) {
        message->refused.why = (Refusal) codec_enum(codec, message->refused.why, N_REFUSALS);
        message->refused.kind = (ErrorKind) codec_enum(codec, message->refused.kind, ERROR_FAILED + 1);
        if (codec->error == 0 && message->refused.kind < ERROR_USAGE)
                codec_refuse(codec);
        codec_string(codec, &message->refused.text);
}

static void go_code(Codec *codec, Message *message) {
        codec_u64(codec, &message->go.run_tag);
        codec_u64(codec, &message->go.seed);
        if (codec->error == 0 && message->go.run_tag == 0)
                codec_refuse(codec);
}

static void started_code(Codec *codec, Message *message) {
        codec_i64(codec, &message->started.at_ns);
}

static void end_phase_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->end_phase.index);
        if (codec->error == 0 && message->end_phase.index >= JOB_N_PHASES_MAX)
                codec_refuse(codec);
}

static void end_run_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->end_run.index);
        codec_string(codec, &message->end_run.detail);
        if (codec->error == 0 && message->end_run.index >= JOB_N_PHASES_MAX)
                codec_refuse(codec);
}

static void phase_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->phase.index);
        message->phase.mark = (PhaseMark) codec_enum(codec, message->phase.mark, N_PHASE_MARKS);
        codec_i64(codec, &message->phase.at_ns);
        if (codec->error == 0 && message->phase.index >= JOB_N_PHASES_MAX)
                codec_refuse(codec);
}

static void sample_encode_blob(Codec *codec, const Sample *sample) {
        size_t length_at = codec->at;

        codec_u32(codec, &(uint32_t) { 0 });
        if (codec->error < 0)
                return;

        size_t n = sample_encode(sample, codec->out + codec->at, codec->size - codec->at);
        if (n == 0) {
                codec->error = -EMSGSIZE;
                return;
        }

        uint32_t length = (uint32_t) n;
        codec->at = length_at;
        codec_u32(codec, &length);
        codec->at += n;
}

static void sample_decode_blob(Codec *codec, Message *message) {
        uint32_t length = 0;

        codec_u32(codec, &length);
        if (codec->error < 0)
                return;
        if (length > codec->size - codec->at) {
                codec_refuse(codec);
                return;
        }

        message->sample = calloc(1, sizeof(*message->sample));
        if (!message->sample)
                codec->error = -ENOMEM;
        else if (sample_decode(message->sample, codec->in + codec->at, length) < 0)
                codec_refuse(codec);
        codec->at += length;
}

static void sample_code(Codec *codec, Message *message) {
        if (codec_is_decoding(codec))
                sample_decode_blob(codec, message);
        else
                sample_encode_blob(codec, message->sample);
}

static void errno_code(Codec *codec, Message *message) {
        EngineErrno *e = &message->errnum;
        uint32_t errnum = (uint32_t) e->errnum;

        codec_u32(codec, &errnum);
        codec_u64(codec, &e->count);
        codec_i64(codec, &e->first_at_ns);
        codec_i64(codec, &e->last_at_ns);
        codec_u64(codec, &e->first_offset);
        codec_u64(codec, &e->last_offset);
        if (codec->error == 0 && (errnum == 0 || errnum > ERRNUM_MAX || e->count == 0))
                codec_refuse(codec);
        e->errnum = codec->error == 0 ? (int) errnum : 0;
}

static void event_code(Codec *codec, Message *message) {
        message->event.kind = (Occurrence) codec_enum(codec, message->event.kind, N_OCCURRENCES);
        codec_i64(codec, &message->event.at_ns);
        codec_u64(codec, &message->event.elapsed_ns);
        codec_string(codec, &message->event.detail);
}

static void history_message_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->history.phase);
        codec_u32(codec, &message->history.share);
        history_code(codec, &message->history.history);
}

static void recorded_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->recorded.phase);
        codec_u32(codec, &message->recorded.share);
        codec_u64(codec, &message->recorded.ceiling);
}

static void verification_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->verification.phase);
        verification_fields_code(codec, &message->verification.so_far);
}

static void finding_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->finding.phase);
        message->finding.kind = (Mismatch) codec_enum(codec, message->finding.kind, N_MISMATCHES);
        codec_u64(codec, &message->finding.offset);
        codec_u64(codec, &message->finding.bytes);
        codec_string(codec, &message->finding.detail);
}

static void pending_code(Codec *codec, Message *message) {
        codec_u32(codec, &message->pending.n);
        codec_u64(codec, &message->pending.oldest_ns);
}

static void finished_code(Codec *codec, Message *message) {
        message->finished.outcome = (Outcome) codec_enum(codec, message->finished.outcome, N_OUTCOMES);
        codec_string(codec, &message->finished.detail);
}

static void message_code(Codec *codec, Message *message) {
        static void (*const coders[N_MESSAGE_TYPES])(Codec *, Message *) = {
                [MESSAGE_OPEN] = open_code,
                [MESSAGE_REPORT] = report_code,
                [MESSAGE_REFUSED] = refused_code,
                [MESSAGE_GO] = go_code,
                [MESSAGE_STARTED] = started_code,
                [MESSAGE_PHASE] = phase_code,
                [MESSAGE_END_PHASE] = end_phase_code,
                [MESSAGE_END_RUN] = end_run_code,
                [MESSAGE_SAMPLE] = sample_code,
                [MESSAGE_ERRNO] = errno_code,
                [MESSAGE_EVENT] = event_code,
                [MESSAGE_FINISHED] = finished_code,
                [MESSAGE_HISTORY] = history_message_code,
                [MESSAGE_RECORDED] = recorded_code,
                [MESSAGE_VERIFICATION] = verification_code,
                [MESSAGE_FINDING] = finding_code,
                [MESSAGE_PENDING] = pending_code,
        };

        message->type = (MessageType) codec_enum(codec, message->type, N_MESSAGE_TYPES);
        if (codec->error == 0 && coders[message->type])
                coders[message->type](codec, message);
}

ssize_t message_encode(const Message *message, uint8_t *buf, size_t size) {
        Codec codec = { .out = buf, .size = size };
        Message copy = *message;

        message_code(&codec, &copy);
        return codec.error < 0 ? codec.error : (ssize_t) codec.at;
}

int message_decode(Message *ret, const void *data, size_t length) {
        Codec codec = { .in = data, .size = length };
        Message message = {};

        message_code(&codec, &message);
        if (codec.error == 0 && codec.at != length)
                codec_refuse(&codec);
        if (codec.error < 0) {
                message_clear(&message);
                *ret = message;
                return codec.error;
        }

        *ret = message;
        return 0;
}

void message_clear(Message *message) {
        switch (message->type) {
        case MESSAGE_OPEN:
                free(message->open.path);
                strv_free(message->open.confirmations);
                strv_free(message->open.deny);
                free(message->open.job_name);
                free(message->open.job_text);
                standing_free(message->open.standing);
                break;
        case MESSAGE_REPORT:
                device_info_free(message->report.info);
                strv_free(message->report.notices);
                free(message->report.proof);
                break;
        case MESSAGE_REFUSED:
                free(message->refused.text);
                break;
        case MESSAGE_SAMPLE:
                free(message->sample);
                break;
        case MESSAGE_EVENT:
                free(message->event.detail);
                break;
        case MESSAGE_FINISHED:
                free(message->finished.detail);
                break;
        case MESSAGE_FINDING:
                free(message->finding.detail);
                break;
        case MESSAGE_END_RUN:
                free(message->end_run.detail);
                break;
        default:
                break;
        }

        *message = (Message) {};
}
