/* Ingot as a library: a language model inside your program, hosted or without an operating system.
 * docs/LIBRARY.md is the page to begin with, examples/ the shortest programs. C11 and C++.
 *
 *   ingot_open      checks the model file and plans: which bytes of your memory hold what
 *   ingot_load      reads the weights, and starts the other cores
 *   ingot_session_begin, ingot_prompt or ingot_prompt_turn, ingot_generate, again and again
 *   ingot_close     stops the cores; the memory is yours again
 *
 * Memory: all of it is the range that ingot_setup names. Nothing is allocated, and nothing is written
 * outside that range and what a call is given. Handles lie in the range, too. The memory that a
 * function returns a pointer to (texts, tokens, logits) stays valid until the next call of the same
 * model, unless stated otherwise. A thread that calls needs INGOT_STACK_BYTES of stack, a core
 * INGOT_CORE_STACK_BYTES.
 *
 * Threads: the calls of one model, its session's included, must not overlap; any thread may make them.
 * Models share nothing: each may have a thread of its own. Callbacks come from within a call, on
 * the thread that made it, unless stated otherwise. A callback may ask for constant things
 * (ingot_model_describe, ingot_token_text, ingot_error_message); other calls of its model are
 * answered INGOT_WRONG_ORDER.
 *
 * Errors: every call that can fail returns an enum ingot_error. NULL where a pointer is needed, a size
 * or number out of bounds: INGOT_BAD_ARGUMENT. A handle that is closed or not that far yet:
 * INGOT_WRONG_ORDER. Neither changes anything. If a function says "Errors:", these two come on top.
 *
 * Floating point: round to nearest, subnormals kept, no traps, which is how a C program starts. */
#ifndef INGOT_H
#define INGOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    INGOT_MOST_CORES = 8,
    INGOT_MOST_SESSIONS = 8, /* sessions of a model, side by side */
    INGOT_MOST_STOPS = 4,    /* stop strings of a reply */
    INGOT_STOP_BYTES = 64,   /* bytes of one, with its NUL */
    INGOT_MOST_TEXT = 16384, /* bytes of text that one call makes tokens of, template included */
    INGOT_READ_BYTES = 512,  /* offset and size of every read are multiples of it */
    INGOT_MOST_READ = 256 * 1024, /* bytes of one read */
    INGOT_DATA_ALIGN = 64,        /* alignment of a model in memory */
    INGOT_STACK_BYTES = 64 * 1024,
    INGOT_CORE_STACK_BYTES = 32 * 1024,
};

/* The values are stable: later versions add to the end. */
enum ingot_error {
    INGOT_OK = 0,
    INGOT_BAD_ARGUMENT = -1, /* NULL, or a size or number out of bounds */
    INGOT_WRONG_ORDER = -2, /* not opened, loaded or begun yet; closed; or called from a callback */
    INGOT_NO_MEMORY = -3, /* the memory is too small: ingot_memory_needed says how much it takes */
    INGOT_READ_FAILED = -4, /* the read callback failed, four times in a row */
    INGOT_NOT_A_MODEL = -5, /* no .ingot file */
    INGOT_BAD_VERSION = -6, /* an .ingot file of another version: pack it again */
    INGOT_DAMAGED = -7,     /* a checksum or a field is wrong, or the file is too short */
    INGOT_UNSUPPORTED = -8, /* well-formed, but of a kind that this build cannot run */
    INGOT_TOO_LONG = -9,    /* the context has no room, or a text is beyond INGOT_MOST_TEXT */
    INGOT_STOPPED = -10,    /* one of your callbacks ended it */
    INGOT_NO_TEMPLATE = -11 /* the model has no chat template: use ingot_prompt */
};

/* One line for a user, without a full stop. Never NULL, whatever the value. Any thread. */
const char *ingot_error_text(enum ingot_error error);

/* "0.2.0". Any thread. */
const char *ingot_version(void);

/* ---- what you give -------------------------------------------------------------------------- */

/* An .ingot file: in memory as a whole, or read piece by piece. */
struct ingot_source {
    const char *name; /* for error messages; copied; NULL: "model" */
    uint64_t bytes;   /* size of the file, at least 4096 */
    /* Not NULL: the whole file, INGOT_DATA_ALIGN aligned, constant until ingot_close. Weights are
     * used in place, and `read` is never called. */
    const void *data;
    void *context;
    /* Fill buffer with `bytes` bytes of the file from `offset`; both are multiples of
     * INGOT_READ_BYTES, bytes is at most INGOT_MOST_READ, and buffer is 16-byte aligned. False: it
     * failed, and is tried again. It must not return before it is done, so its speed limits a model
     * whose weights stream. */
    bool (*read)(void *context, uint64_t offset, void *buffer, size_t bytes);
};

struct ingot_clock {
    void *context;
    /* Counts up, at the same pace on every core. Any core. Needed: figures, and where there are
     * cores their start, go by it. */
    uint64_t (*ticks)(void *context);
    uint64_t hz; /* ticks a second, at least 1 */
};

/* More cores than the caller's: threads, or cores of a machine. All zero: only the caller's
 * core. */
struct ingot_cores {
    void *context;
    uint32_t n; /* the caller's included, at most INGOT_MOST_CORES; 0 counts as 1 */
    /* Microseconds that a core looks for work before it sleeps. 0 is right if cores are shared with
     * other programs, 50 if they are not. */
    uint32_t spin_micros;
    /* Run entry(arg) on core 1 .. n-1, on a stack of its own, with floating point on; entry returns
     * when ingot_close is called. Called within ingot_load. False: it does not start, and the model
     * runs on those that did. A core that has not begun two seconds later is not used either, and
     * must not begin after ingot_close. */
    bool (*start)(void *context, uint32_t core, void (*entry)(void *arg), void *arg);
    /* Any core: sleep until *word is not `old`; may return early, or at once. Read *word atomically. */
    void (*wait)(void *context, const uint32_t *word, uint32_t old);
    /* Any core: wake all that wait on *word, which has just changed. */
    void (*wake)(void *context, const uint32_t *word);
};

/* The CPU's features, common to all cores: bits of INGOT_CPU_*, or one of the first three alone. A bit
 * that a core lacks ends in an illegal instruction. The results are the same bits whatever is
 * chosen. */
enum ingot_cpu {
    INGOT_CPU_AUTO =
        0, /* with an operating system, what it reports; else what every CPU of the ISA has */
    /* As AUTO. Without an operating system, arm64 at EL1 or above: the features in the ID registers
     * of the calling core, SVE if it is enabled; the other cores have the same. */
    INGOT_CPU_DETECT = 1 << 30,
    INGOT_CPU_PORTABLE = 1 << 29, /* C alone */
    INGOT_CPU_NEON = 1 << 0,
    INGOT_CPU_RV64GC = 1 << 1,
    INGOT_CPU_RVV = 1 << 2, /* RVV 1.0, turned on (sstatus.VS) */
    INGOT_CPU_AVX2 = 1 << 3,
    INGOT_CPU_DOTPROD = 1 << 4,
    INGOT_CPU_I8MM = 1 << 5,
    INGOT_CPU_SVE = 1 << 6,  /* turned on, the same length on every core */
    INGOT_CPU_ZVFH = 1 << 7, /* Zvfhmin is enough */
    INGOT_CPU_AVX512 = 1 << 8,
    INGOT_CPU_VNNI = 1 << 9,
    INGOT_CPU_ARM_CRC = 1 << 10,
    INGOT_CPU_ZBC = 1 << 11,
    INGOT_CPU_ARM_SHA2 = 1 << 12,
    INGOT_CPU_ZBB = 1 << 13,
    INGOT_CPU_AVX_VNNI = 1 << 14, /* VNNI with VEX coding; INGOT_CPU_VNNI is that of AVX-512 */
    INGOT_CPU_ZVKNHA = 1 << 15    /* Zvknhb is enough */
};

/* How keys and values of the context are kept. */
enum ingot_kv { INGOT_KV_F16 = 0, INGOT_KV_Q8 = 1, INGOT_KV_F32 = 2 };

/* Zero it, then set memory, source and clock; the rest may stay zero. It is copied; what it points
 * to must outlive the model, unless stated otherwise. */
struct ingot_setup {
    void *memory; /* (memory_bytes) any alignment; normal, cached memory */
    size_t memory_bytes;
    struct ingot_source source;
    struct ingot_clock clock;
    struct ingot_cores cores;
    uint32_t cpu;          /* enum ingot_cpu */
    uint32_t context;      /* tokens of a conversation; 0: the model's, at most 4096 */
    uint64_t weight_bytes; /* the most memory for weights; the others stream. 0: what there is */
    enum ingot_kv kv;
    void *log_context;
    void (*log)(void *context,
                const char *line); /* how it was set up, without a line feed; or NULL */
    void *progress_context;
    /* While opening and loading: `done` of `total` bytes. False: stop. Or NULL. */
    bool (*progress)(void *context, const char *doing, uint64_t done, uint64_t total);
    uint32_t sessions; /* that the model can have, at most INGOT_MOST_SESSIONS; 0: one */
};

/* ---- a model -------------------------------------------------------------------------------- */

struct ingot_model;
struct ingot_session;

/* Bytes of setup.memory. */
struct ingot_memory {
    size_t
        least;  /* with which ingot_open succeeds; weights stream, unless they are used in place */
    size_t all; /* with which no weight is read twice */
};

/* The memory that a model takes, for this context, weight_bytes and kv. setup->memory is work space meanwhile: a
 * megabyte suffices for most models, which is what the header and the tables of the file take.
 * Errors: as ingot_open, but INGOT_NO_MEMORY only where these do not fit. */
enum ingot_error ingot_memory_needed(const struct ingot_setup *setup, struct ingot_memory *needed);

/* Read and check the header and the tables, and plan. *model lies in setup->memory, as everything does
 * from now on until ingot_close. After an error *model is NULL, or a handle for ingot_error_message and
 * ingot_close alone.
 * Errors: INGOT_NO_MEMORY, INGOT_READ_FAILED, INGOT_NOT_A_MODEL, INGOT_BAD_VERSION, INGOT_DAMAGED,
 * INGOT_UNSUPPORTED, INGOT_STOPPED by progress. INGOT_BAD_ARGUMENT also: a context beyond the model's. */
enum ingot_error ingot_open(const struct ingot_setup *setup, struct ingot_model **model);

/* Start the cores, read the weights and check each byte. After an error the model can only be closed.
 * Errors: INGOT_READ_FAILED, INGOT_DAMAGED, INGOT_STOPPED by progress. */
enum ingot_error ingot_load(struct ingot_model *model);

/* Stop the cores: the functions that they were given return. The memory is the caller's again, and both
 * handles are closed. After ingot_open failed, too. */
enum ingot_error ingot_close(struct ingot_model *model);

/* An error message on the latest error of a call with this model, "" after none. Lives in the model; of NULL
 * and of a model that is closed: "". */
const char *ingot_error_message(const struct ingot_model *model);

/* The name in 0.2; it goes with the second version after that. */
#define ingot_problem ingot_error_message

enum ingot_residency {
    INGOT_RESIDENT, /* weights are read once */
    INGOT_IN_PLACE, /* they are used where they lie */
    INGOT_STREAMED  /* some are read again for every token */
};

/* Texts live as long as the model. */
struct ingot_model_info {
    const char *family; /* "llama" */
    uint32_t n_layers, dim;
    uint32_t vocab;         /* tokens have 0 <= id < vocab */
    uint32_t model_context; /* tokens that it was trained for */
    uint32_t context;       /* tokens of its session */
    bool has_template;      /* ingot_prompt_turn works */
    enum ingot_residency residency;
    uint64_t bytes_a_token; /* that are read for one more token, where weights stream */
    size_t memory_bytes;    /* in use, of setup.memory; the rest stays unused */
    uint32_t n_cores;       /* at work; 0 before ingot_load */
    const char *kernels;    /* "neon dotprod", "ref": C alone */
};

/* After ingot_open. */
enum ingot_error ingot_model_describe(const struct ingot_model *model,
                                      struct ingot_model_info *info);

/* Its first name, which C++ takes for the structure's. */
#define ingot_model_info(model, info) ingot_model_describe(model, info)

/* ---- a session: one sequence of tokens ------------------------------------------------------ */

/* An empty session. A model has setup.sessions of them: one more is answered INGOT_WRONG_ORDER. They end
 * with the model. */
enum ingot_error ingot_session_begin(struct ingot_model *model, struct ingot_session **session);

/* Forget all tokens. */
enum ingot_error ingot_session_clear(struct ingot_session *session);

/* Add a text to the sequence as it stands; `bytes` bytes of UTF-8, not terminated. Into an empty
 * session, BOS comes first if the model requires one. Text that looks like a control token is text.
 * Nothing is computed yet. Errors: INGOT_TOO_LONG: nothing was added. */
enum ingot_error ingot_prompt(struct ingot_session *session, const char *text, size_t bytes);

struct ingot_turn {
    const char *text; /* (text_bytes) the user's text */
    size_t text_bytes;
    /* (system_bytes) the system prompt, only for the first turn; NULL: the template's own; not NULL
     * and 0 bytes: none. */
    const char *system;
    size_t system_bytes;
    bool no_thinking; /* if the template supports that */
};

/* Add one turn in the model's chat template, up to where the reply begins; the reply before it is
 * closed. Errors: INGOT_NO_TEMPLATE, INGOT_TOO_LONG: nothing was added. */
enum ingot_error ingot_prompt_turn(struct ingot_session *session, const struct ingot_turn *turn);

struct ingot_generate_params {
    float temp;     /* 0: always the likeliest token; at most 100 */
    float top_p;    /* the likeliest tokens that hold this share; 0 < top_p <= 1, 1: off */
    float min_p;    /* at least this share of the likeliest; 0 <= min_p <= 1, 0: off */
    float repeat;   /* penalty on the last tokens; 0 < repeat <= 100, 1: off */
    uint32_t top_k; /* this many of the likeliest; 0: off */
    uint64_t seed;  /* equal seeds give equal replies */
    uint32_t limit; /* new tokens; 0: until the model ends, or repeats itself */
    const char *stops[INGOT_MOST_STOPS]; /* (n_stops) strings that end the reply, not empty */
    uint32_t n_stops;
    /* Asked before each layer, while the prompt is computed, too. False: stop. Or NULL. */
    bool (*go_on)(void *context);
    uint32_t repeat_last; /* on how many tokens `repeat` is; 0: 64 */
};

/* temp 0.8, top_p 0.95, min_p 0.05, repeat 1, top_k 40, seed 0, no limit, no stops. NULL: nothing. */
void ingot_generate_default(struct ingot_generate_params *params);

/* The same, except for what the model's file recommends. After ingot_open. */
enum ingot_error ingot_model_defaults(const struct ingot_model *model,
                                      struct ingot_generate_params *params);

/* The next piece of a reply: whole UTF-8 characters, not terminated. False: stop. */
typedef bool ingot_text_fn(void *context, const char *text, size_t bytes);

enum ingot_end {
    INGOT_END_MODEL,      /* the model ended its reply */
    INGOT_END_LIMIT,      /* params->limit */
    INGOT_END_STOP,       /* a stop string, which is not part of the reply */
    INGOT_END_CONTEXT,    /* it is full */
    INGOT_END_REPETITION, /* the reply repeats itself */
    INGOT_END_CALLER      /* a callback said so */
};

struct ingot_generate_result {
    enum ingot_end end;
    uint32_t prompt_tokens; /* that were computed */
    uint32_t new_tokens;
    uint64_t prompt_ticks, reply_ticks; /* ticks of setup.clock, each up to its last token */
};

/* Compute the added tokens, then let the model continue. params may be NULL: ingot_model_defaults.
 * `text` may be NULL where only the tokens matter; `context` is its first argument and go_on's.
 * result may be NULL. The reply is part of the sequence then; ended by a stop string, as far as it
 * was shown. A stop by a callback is not an error: end is INGOT_END_CALLER. If it was stopped in
 * the prompt, another call continues there. Errors: INGOT_READ_FAILED, INGOT_DAMAGED (a layer's
 * checksum; logits that are not numbers). INGOT_WRONG_ORDER also: an empty session. */
enum ingot_error ingot_generate(struct ingot_session *session,
                                const struct ingot_generate_params *params, ingot_text_fn *text,
                                void *context, struct ingot_generate_result *result);

/* One of several replies: what ingot_generate is given for it. */
struct ingot_reply {
    struct ingot_session *session;
    const struct ingot_generate_params *params; /* NULL: ingot_model_defaults */
    ingot_text_fn *text;                        /* or NULL */
    void *context;                              /* of text and go_on */
    struct ingot_generate_result result;        /* is filled */
};

/* ingot_generate for n sessions of one model in parallel: a pass reads each weight once for all of
 * them, and every reply is the same as its session alone would get. go_on is called before each
 * pass; false ends only that reply, like false from text. prompt_ticks and reply_ticks are those of
 * all together. Errors as ingot_generate; INGOT_BAD_ARGUMENT also: n is 0 or beyond
 * INGOT_MOST_SESSIONS, or a session is listed twice or belongs to another model. After an error all
 * replies are as far as they came. */
enum ingot_error ingot_generate_parallel(struct ingot_reply *replies, uint32_t n);

/* The name in 0.2; it goes with the second version after that. */
#define ingot_generate_together ingot_generate_parallel

/* ---- tokens --------------------------------------------------------------------------------- */

/* ids[0 .. *n) = the tokens of a text, as ingot_prompt would add it to an empty session (begins) or to
 * others. room: of ids; *n is 0 after an error. Errors: INGOT_TOO_LONG: they do not fit room. */
enum ingot_error ingot_tokenize(struct ingot_session *session, const char *text, size_t bytes,
                                bool begins, uint32_t *ids, size_t room, size_t *n);

/* The text of token id after token `previous` (equal to the vocabulary's size or more: the first), *bytes
 * of it, not terminated and perhaps a part of a character. Never NULL; it lives as long as the model,
 * is "" for control tokens and wherever an argument is wrong. After ingot_open. */
const char *ingot_token_text(const struct ingot_model *model, uint32_t id, uint32_t previous,
                             size_t *bytes);

/* The sequence: *ids (*n), until the next call. */
enum ingot_error ingot_tokens(const struct ingot_session *session, const uint32_t **ids, size_t *n);

/* Add tokens. Errors: INGOT_TOO_LONG. INGOT_BAD_ARGUMENT also: an id that is not a token's. Nothing was
 * added. */
enum ingot_error ingot_append(struct ingot_session *session, const uint32_t *ids, size_t n);

/* The sequence ends after its first n tokens; more than it has: nothing changes. */
enum ingot_error ingot_cut(struct ingot_session *session, size_t n);

/* Compute the added tokens, and return the logits after the last one: *logits (vocab) f32, until
 * the next call. Errors: as ingot_generate. */
enum ingot_error ingot_logits(struct ingot_session *session, const float **logits);

/* FNV-1a 64 over the first 32 positions whose logits were computed since the session was empty, and how
 * many there were: the same on every machine, for the same calls. For tests. */
enum ingot_error ingot_logits_hash(const struct ingot_session *session, uint64_t *hash,
                                   uint32_t *positions);

#ifdef __cplusplus
}
#endif

#endif
