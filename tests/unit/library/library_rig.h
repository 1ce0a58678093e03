/* A setup over a model of this repository, in memory or read piece by piece, for the tests of the
 * library; and memory between bytes that nobody may write. */
#ifndef INGOT_TESTS_UNIT_LIBRARY_RIG_H
#define INGOT_TESTS_UNIT_LIBRARY_RIG_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "include/ingot.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

enum { RIG_MEMORY = 24 << 20, RIG_GUARD = 64, RIG_GUARD_BYTE = 0xa5 };

/* The demo model's answer, without any chance (tests/golden/demo_boot.t). */
#define RIG_QUESTION "Hello! Who are you?"
#define RIG_ANSWER "I am Ingot, a very small language model that runs on this board."
#define RIG_HASH 0xee3816407064281cu
#define RIG_POSITIONS 16

/* A model with everything that the caller gives for it. */
struct rig {
    uint8_t *file;
    size_t file_bytes;
    uint8_t *memory; /* RIG_GUARD bytes, what the model gets, RIG_GUARD bytes */
    size_t memory_bytes;
    struct ingot_setup setup;
    struct ingot_model *model;
    struct ingot_session *session;
    unsigned n_reads, n_bad_reads;
    int reads_left; /* reads before they fail; -1: they do not */
    char said[4096];
    size_t said_bytes;
    unsigned n_stripes;
    unsigned pieces_most; /* stop after these; 0: never */
};

static inline uint64_t rig_ticks(void *context)
{
    struct timespec t;

    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline bool rig_read(void *context, uint64_t offset, void *buffer, size_t bytes)
{
    struct rig *r = context;

    r->n_reads++;
    r->n_bad_reads += offset % INGOT_READ_BYTES != 0 || bytes % INGOT_READ_BYTES != 0 ||
                      bytes > INGOT_MOST_READ || offset + bytes > r->file_bytes ||
                      (uintptr_t)buffer % 16 != 0;
    if (r->reads_left == 0)
        return false;
    r->reads_left -= r->reads_left > 0;
    memcpy(buffer, r->file + offset, bytes);
    return true;
}

/* Reads the file into memory, and makes a setup that reads it from there by rig_read. */
static inline void rig_init(struct rig *r, const char *path)
{
    struct bytes b = bytes_load(path);

    memset(r, 0, sizeof *r);
    if (b.n == 0) {
        printf("Bail out! %s cannot be read\n", path);
        exit(1);
    }
    r->file = aligned_alloc(4096, (b.n + 4095) / 4096 * 4096);
    memcpy(r->file, b.data, b.n);
    r->file_bytes = b.n;
    bytes_free(&b);
    r->reads_left = -1;
    r->setup.source = (struct ingot_source){ path, r->file_bytes, NULL, r, rig_read };
    r->setup.clock = (struct ingot_clock){ NULL, rig_ticks, 1000000000 };
}

/* Memory that is not aligned at all. */
static inline void rig_memory(struct rig *r, size_t bytes)
{
    free(r->memory);
    r->memory = malloc(bytes + 2 * RIG_GUARD + 1);
    memset(r->memory, RIG_GUARD_BYTE, bytes + 2 * RIG_GUARD + 1);
    r->memory_bytes = bytes;
    r->setup.memory = r->memory + RIG_GUARD + 1;
    r->setup.memory_bytes = bytes;
}

/* Whether the bytes around the memory are unchanged. */
static inline bool rig_guarded(const struct rig *r)
{
    for (size_t i = 0; i < RIG_GUARD; i++) {
        if (r->memory[i] != RIG_GUARD_BYTE ||
            r->memory[RIG_GUARD + 1 + r->memory_bytes + i] != RIG_GUARD_BYTE)
            return false;
    }
    return true;
}

static inline void rig_end(struct rig *r)
{
    if (r->model != NULL)
        (void)ingot_close(r->model);
    free(r->memory);
    free(r->file);
    memset(r, 0, sizeof *r);
}

/* Opens, loads and begins, or returns the first error. */
static inline enum ingot_error rig_start(struct rig *r)
{
    enum ingot_error e = ingot_open(&r->setup, &r->model);

    if (e == INGOT_OK)
        e = ingot_load(r->model);
    if (e == INGOT_OK)
        e = ingot_session_begin(r->model, &r->session);
    return e;
}

static inline bool rig_say(void *context, const char *text, size_t bytes)
{
    struct rig *r = context;

    if (r->said_bytes + bytes < sizeof r->said) {
        memcpy(r->said + r->said_bytes, text, bytes);
        r->said_bytes += bytes;
        r->said[r->said_bytes] = '\0';
    }
    return ++r->n_stripes != r->pieces_most;
}

/* Nothing left to chance. */
static inline struct ingot_generate_params rig_greedy(void)
{
    struct ingot_generate_params p;

    ingot_generate_default(&p);
    p.temp = 0;
    return p;
}

static inline enum ingot_error rig_turn(struct rig *r, const char *text)
{
    struct ingot_turn turn = { .text = text, .text_bytes = strlen(text) };

    return ingot_prompt_turn(r->session, &turn);
}

/* Adds the model's next text to r->said. */
static inline enum ingot_error rig_generate(struct rig *r, const struct ingot_generate_params *p,
                                            struct ingot_generate_result *result)
{
    r->said_bytes = 0;
    r->said[0] = '\0';
    r->n_stripes = 0;
    return ingot_generate(r->session, p, rig_say, r, result);
}

static inline size_t rig_length(const struct rig *r)
{
    const uint32_t *ids;
    size_t n = 0;

    (void)ingot_tokens(r->session, &ids, &n);
    return n;
}

/* Asks the question of an empty session: answer and logits must be the usual ones. */
static inline bool rig_answers(struct rig *r)
{
    struct ingot_generate_params p = rig_greedy();
    uint64_t hash = 0;
    uint32_t positions = 0;

    return rig_turn(r, RIG_QUESTION) == INGOT_OK && rig_generate(r, &p, NULL) == INGOT_OK &&
           strcmp(r->said, RIG_ANSWER) == 0 &&
           ingot_logits_hash(r->session, &hash, &positions) == INGOT_OK && hash == RIG_HASH &&
           positions == RIG_POSITIONS;
}

#endif
