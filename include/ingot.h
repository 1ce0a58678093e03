/* Ingot as a library: a language model inside your program, hosted or without an operating system.
 * docs/LIBRARY.md is the page to begin with; examples/ has the shortest programs. C11 and C++.
 *
 *   ingot_open      checks the model file, and divides your memory.
 *   ingot_load      reads the weights, and starts the other cores.
 *   ingot_session_begin, ingot_prompt or ingot_prompt_turn, ingot_generate, again and again.
 *   ingot_close     stops the cores; the memory is yours again.
 *
 * Memory: the library allocates nothing, and uses only the range that ingot_setup names. A call
 * also writes to what its pointer arguments name. Handles lie in the range.
 * A pointer that a function returns (texts, tokens, logits) stays valid until the next call of the
 * same model, unless stated otherwise. A calling thread needs INGOT_STACK_BYTES of stack, every
 * other core INGOT_CORE_STACK_BYTES.
 *
 * Threads: any thread may call, but the calls of one model and of its sessions must not overlap.
 * Models share nothing: each may have its own thread. A callback runs during a call, on the thread
 * that made the call, unless stated otherwise. A callback may use ingot_model_describe,
 * ingot_token_text and ingot_error_message, which change nothing; other calls of its model return
 * INGOT_WRONG_ORDER.
 *
 * Errors: every call that can fail returns an enum ingot_error. INGOT_BAD_ARGUMENT: a required
 * pointer is NULL, or a size or number is out of bounds. INGOT_WRONG_ORDER: the handle is closed,
 * or is not opened, loaded or begun yet. A call that returns one of these two has changed nothing.
 * "Errors:" lists the errors of a function in addition to these two.
 * Floating point: round to nearest, keep subnormals, no traps: the settings with which a C program
 * starts. */
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
    INGOT_MOST_SESSIONS = 8,      /* most sessions of a model at a time */
    INGOT_MOST_STOPS = 4,         /* most stop strings of a reply */
    INGOT_STOP_BYTES = 64,        /* bytes of a stop string, with its NUL */
    INGOT_MOST_TEXT = 16384,      /* most bytes of text and template that a call can tokenize */
    INGOT_READ_BYTES = 512,       /* every read's offset and size are multiples of this */
    INGOT_MOST_READ = 256 * 1024, /* most bytes of a read */
    INGOT_DATA_ALIGN = 64,        /* alignment of a model in memory */
    INGOT_STACK_BYTES = 64 * 1024,
    INGOT_CORE_STACK_BYTES = 32 * 1024,
};

/* The values are stable: later versions add to the end. */
enum ingot_error {
    INGOT_OK = 0,
    INGOT_BAD_ARGUMENT = -1, /* a pointer is NULL, or a size or number is out of bounds */
    INGOT_WRONG_ORDER = -2,  /* the handle is not ready or is closed, or a callback made the call */
    INGOT_NO_MEMORY = -3,    /* the memory is too small: call ingot_memory_needed */
    INGOT_READ_FAILED = -4,  /* the read callback failed, four times in a row */
    INGOT_NOT_A_MODEL = -5,  /* not an .ingot file */
    INGOT_BAD_VERSION = -6,  /* an .ingot file of another version: pack it again */
    INGOT_DAMAGED = -7,      /* a checksum or a field is wrong, or the file is too short */
    INGOT_UNSUPPORTED = -8,  /* the file is intact, but this build cannot run it */
    INGOT_TOO_LONG = -9,     /* the context is full, or a text exceeds INGOT_MOST_TEXT */
    INGOT_STOPPED = -10,     /* one of your callbacks stopped the call */
    INGOT_NO_TEMPLATE = -11  /* the model has no chat template: use ingot_prompt */
};

/* One line for a user, without a full stop. Never NULL, even for unknown values. Any thread. */
const char *ingot_error_text(enum ingot_error error);

/* "0.2.0". Any thread. */
const char *ingot_version(void);

/* ---- what you give -------------------------------------------------------------------------- */

/* An .ingot file, either in memory as a whole, or read in parts. */
struct ingot_source {
    const char *name; /* name in error messages; it is copied; NULL: "model" */
    uint64_t bytes;   /* size of the file, at least 4096 */
    /* The whole file in memory, INGOT_DATA_ALIGN aligned, constant until ingot_close: weights are
     * used in place, and `read` is never called. If NULL, the file is read. */
    const void *data;
    void *context;
    /* Fill buffer with `bytes` bytes of the file from `offset`; both are multiples of
     * INGOT_READ_BYTES, bytes is at most INGOT_MOST_READ, and buffer is 16-byte aligned. Return
     * true after the buffer is filled; false if the read failed: the library then repeats it. The
     * speed of reads limits a model whose weights stream. */
    bool (*read)(void *context, uint64_t offset, void *buffer, size_t bytes);
};

struct ingot_clock {
    void *context;
    /* The current time, which rises at the same pace on every core. Called on any core. Required
     * for the durations of results and for the start of cores. */
    uint64_t (*ticks)(void *context);
    uint64_t hz; /* ticks a second, at least 1 */
};

/* Further cores in addition to the caller's: threads, or cores of a machine. If all fields are
 * zero, only the caller's core works. */
struct ingot_cores {
    void *context;
    uint32_t n; /* cores, the caller's included, at most INGOT_MOST_CORES; 0 counts as 1 */
    /* Microseconds that a core looks for work before it sleeps. Choose 0 if other programs share
     * the cores, 50 if not. */
    uint32_t spin_micros;
    /* Run entry(arg) on a core from 1 to n - 1, on a stack of its own, with floating point on;
     * entry returns when ingot_close is called. ingot_load calls this. Return false if this core
     * cannot start; the model then runs on the others. A core that has not begun after two seconds
     * is not used, and must not begin after ingot_close. */
    bool (*start)(void *context, uint32_t core, void (*entry)(void *arg), void *arg);
    /* Any core: sleep until *word differs from `old`. Read *word atomically. May return early. */
    void (*wait)(void *context, const uint32_t *word, uint32_t old);
    /* Any core: wake all cores that wait on *word, which has just changed. */
    void (*wake)(void *context, const uint32_t *word);
};

/* The CPU's features that all cores have: bits of INGOT_CPU_*, or only one of the first three. A
 * core that lacks a feature given here traps on an illegal instruction. The choice does not change
 * a bit of the results. */
enum ingot_cpu {
    INGOT_CPU_AUTO =
        0, /* features that the operating system reports; without an operating system, the ISA's
            * minimum */
    /* As AUTO, but on arm64 without an operating system, at EL1 or above: the features that the
     * calling core's ID registers name (SVE only if enabled). All cores must have these. */
    INGOT_CPU_DETECT = 1 << 30,
    INGOT_CPU_PORTABLE = 1 << 29, /* only C */
    INGOT_CPU_NEON = 1 << 0,
    INGOT_CPU_RV64GC = 1 << 1,
    INGOT_CPU_RVV = 1 << 2, /* RVV 1.0, turned on (sstatus.VS) */
    INGOT_CPU_AVX2 = 1 << 3,
    INGOT_CPU_DOTPROD = 1 << 4,
    INGOT_CPU_I8MM = 1 << 5,
    INGOT_CPU_SVE = 1 << 6,  /* only if enabled, with equal lengths on all cores */
    INGOT_CPU_ZVFH = 1 << 7, /* Zvfhmin is enough */
    INGOT_CPU_AVX512 = 1 << 8,
    INGOT_CPU_VNNI = 1 << 9,
    INGOT_CPU_ARM_CRC = 1 << 10,
    INGOT_CPU_ZBC = 1 << 11,
    INGOT_CPU_ARM_SHA2 = 1 << 12,
    INGOT_CPU_ZBB = 1 << 13,
    INGOT_CPU_AVX_VNNI = 1 << 14, /* VNNI with VEX coding; INGOT_CPU_VNNI belongs to AVX-512 */
    INGOT_CPU_ZVKNHA = 1 << 15    /* Zvknhb is enough */
};

/* The number format of keys and values in memory. */
enum ingot_kv { INGOT_KV_F16 = 0, INGOT_KV_Q8 = 1, INGOT_KV_F32 = 2 };

/* Zero the structure, then set memory, source and clock; the rest may stay zero. ingot_open copies
 * the structure; what its members point to must outlive the model, unless stated otherwise. */
struct ingot_setup {
    void *memory; /* (memory_bytes) normal, cached memory of any alignment */
    size_t memory_bytes;
    struct ingot_source source;
    struct ingot_clock clock;
    struct ingot_cores cores;
    uint32_t cpu;          /* enum ingot_cpu */
    uint32_t context;      /* tokens of a conversation; 0: the model's number, up to 4096 */
    uint64_t weight_bytes; /* most memory for weights; other weights stream; 0: no limit */
    enum ingot_kv kv;
    void *log_context;
    void (*log)(void *context,
                const char *line); /* gets lines about the model, without line feeds; NULL: no
                                    * log */
    void *progress_context;
    /* Called while opening and loading, after `done` of `total` bytes. Return false to stop. May be
     * NULL. */
    bool (*progress)(void *context, const char *doing, uint64_t done, uint64_t total);
    uint32_t sessions; /* sessions of the model, at most INGOT_MOST_SESSIONS; 0: one */
};

/* ---- a model -------------------------------------------------------------------------------- */

struct ingot_model;
struct ingot_session;

/* Sizes of setup.memory in bytes. */
struct ingot_memory {
    size_t least; /* enough for ingot_open, if weights stream or are used in place */
    size_t all;   /* enough to read each weight only once */
};

/* The memory that a model takes with this context, weight_bytes and kv. The call itself works in
 * setup->memory, which must hold the file's header and tables: for most models a megabyte suffices.
 * Errors: as ingot_open, but INGOT_NO_MEMORY only if header and tables do not fit. */
enum ingot_error ingot_memory_needed(const struct ingot_setup *setup, struct ingot_memory *needed);

/* Read and check the header and the tables, and divide the memory. *model and all its data lie in
 * setup->memory until ingot_close. After an error, *model is NULL, or a handle that only
 * ingot_error_message and ingot_close accept.
 * Errors: INGOT_NO_MEMORY, INGOT_READ_FAILED, INGOT_NOT_A_MODEL, INGOT_BAD_VERSION, INGOT_DAMAGED,
 * INGOT_UNSUPPORTED, INGOT_STOPPED by progress. INGOT_BAD_ARGUMENT also if context is too large. */
enum ingot_error ingot_open(const struct ingot_setup *setup, struct ingot_model **model);

/* Start the cores, read the weights and check each byte. After an error, close the model.
 * Errors: INGOT_READ_FAILED, INGOT_DAMAGED, INGOT_STOPPED by progress. */
enum ingot_error ingot_load(struct ingot_model *model);

/* Stop the cores: `entry` returns on each. The memory is the caller's again, and the handles of
 * the model and its sessions are closed. Call this after a failed ingot_open, too. */
enum ingot_error ingot_close(struct ingot_model *model);

/* The message of the latest failed call with this model; it lives in the model. "" if no call
 * failed, or if model is NULL or closed. */
const char *ingot_error_message(const struct ingot_model *model);

/* The function's older name, of version 0.2; it stays for two more versions. */
#define ingot_problem ingot_error_message

enum ingot_residency {
    INGOT_RESIDENT, /* weights are read once */
    INGOT_IN_PLACE, /* weights are used in place, in the file's memory */
    INGOT_STREAMED  /* some weights are read again for every token */
};

/* Filled in by ingot_model_describe; the texts live as long as the model. */
struct ingot_model_info {
    const char *family; /* "llama" */
    uint32_t n_layers, dim;
    uint32_t vocab;         /* number of tokens: 0 <= id < vocab */
    uint32_t model_context; /* longest context of the model's training */
    uint32_t context;       /* tokens that a session can hold */
    bool has_template;      /* ingot_prompt_turn works */
    enum ingot_residency residency;
    uint64_t bytes_a_token; /* bytes read for each new token if weights stream */
    size_t memory_bytes;    /* bytes of setup.memory in use; the rest stays unused */
    uint32_t n_cores;       /* cores at work; 0 before ingot_load */
    const char *kernels;    /* such as "neon dotprod"; "ref": only C */
};

/* Fill *info; call this after ingot_open. */
enum ingot_error ingot_model_describe(const struct ingot_model *model,
                                      struct ingot_model_info *info);

/* The function's older name. In C++ the name without arguments means the structure. */
#define ingot_model_info(model, info) ingot_model_describe(model, info)

/* ---- a session: one sequence of tokens ------------------------------------------------------ */

/* Begin an empty session. A model has up to setup.sessions sessions, which end with the model;
 * beginning another one returns INGOT_WRONG_ORDER. */
enum ingot_error ingot_session_begin(struct ingot_model *model, struct ingot_session **session);

/* Forget all tokens. */
enum ingot_error ingot_session_clear(struct ingot_session *session);

/* Add a text to the sequence unchanged: `bytes` bytes of UTF-8, not terminated. In an empty
 * session, BOS comes first if the model requires it. Text that looks like a control token stays
 * text. Nothing is computed yet. Errors: INGOT_TOO_LONG; nothing was added then. */
enum ingot_error ingot_prompt(struct ingot_session *session, const char *text, size_t bytes);

struct ingot_turn {
    const char *text; /* (text_bytes) the user's text */
    size_t text_bytes;
    /* (system_bytes) the system prompt, only in the first turn. NULL: the template's own. An empty
     * text: no system prompt. */
    const char *system;
    size_t system_bytes;
    bool no_thinking; /* reply without thinking, if the template supports that */
};

/* Add one turn in the model's chat template, up to the point where the reply begins. The preceding
 * reply is closed first. Errors: INGOT_NO_TEMPLATE, INGOT_TOO_LONG; nothing was added then. */
enum ingot_error ingot_prompt_turn(struct ingot_session *session, const struct ingot_turn *turn);

struct ingot_generate_params {
    float temp;     /* 0: always the likeliest token; at most 100 */
    float top_p;    /* total probability of the candidates; 0 < top_p <= 1, 1: off */
    float min_p;    /* least probability, as a fraction of the likeliest token's probability; 0:
                       off */
    float repeat;   /* penalty on recent tokens; 0 < repeat <= 100, 1: off */
    uint32_t top_k; /* only this many likeliest tokens are candidates; 0: off */
    uint64_t seed;  /* equal seeds give equal replies */
    uint32_t limit; /* most new tokens; 0: until the reply ends itself or repeats itself */
    const char *stops[INGOT_MOST_STOPS]; /* (n_stops) strings that end the reply; none is empty */
    uint32_t n_stops;
    /* Called before each layer, also in the prompt. Return false to stop. May be NULL. */
    bool (*go_on)(void *context);
    uint32_t repeat_last; /* number of recent tokens that `repeat` applies to; 0: 64 */
};

/* Set temp 0.8, top_p 0.95, min_p 0.05, repeat 1, top_k 40, seed 0, no limit, no stops. */
void ingot_generate_default(struct ingot_generate_params *params);

/* The defaults of ingot_generate_default, except where the model's file recommends other values.
 * Call it after ingot_open. */
enum ingot_error ingot_model_defaults(const struct ingot_model *model,
                                      struct ingot_generate_params *params);

/* The next piece of a reply: whole UTF-8 characters, not terminated. Return false to stop. */
typedef bool ingot_text_fn(void *context, const char *text, size_t bytes);

enum ingot_end {
    INGOT_END_MODEL,      /* the model ended its reply */
    INGOT_END_LIMIT,      /* params->limit */
    INGOT_END_STOP,       /* a stop string, which is not part of the reply */
    INGOT_END_CONTEXT,    /* the context is full */
    INGOT_END_REPETITION, /* the reply repeats itself */
    INGOT_END_CALLER      /* a callback returned false */
};

struct ingot_generate_result {
    enum ingot_end end;
    uint32_t prompt_tokens; /* number of prompt tokens that were computed */
    uint32_t new_tokens;
    uint64_t prompt_ticks, reply_ticks; /* durations in ticks of setup.clock */
};

/* Compute the added tokens, then let the model continue. NULL params mean ingot_model_defaults.
 * `text` may be NULL if you need only the tokens; text and go_on get `context` as first argument.
 * result may be NULL. The reply joins the sequence; if a stop string ended it, only the shown part
 * does. A stop by a callback is not an error: end is INGOT_END_CALLER. After a stop in the prompt,
 * the next call continues there. Errors: INGOT_READ_FAILED, INGOT_DAMAGED (a layer's checksum is
 * wrong, or logits are not numbers). INGOT_WRONG_ORDER also if the session is empty. */
enum ingot_error ingot_generate(struct ingot_session *session,
                                const struct ingot_generate_params *params, ingot_text_fn *text,
                                void *context, struct ingot_generate_result *result);

/* The arguments of ingot_generate for one of several parallel replies. */
struct ingot_reply {
    struct ingot_session *session;
    const struct ingot_generate_params *params; /* NULL: ingot_model_defaults */
    ingot_text_fn *text;                        /* or NULL */
    void *context;                              /* first argument of text and go_on */
    struct ingot_generate_result result;        /* filled in by the call */
};

/* ingot_generate for n sessions of one model in parallel: a pass reads each weight once for all of
 * them, and every reply is the same as ingot_generate would give. go_on is called before each pass.
 * If go_on or text returns false, only that reply ends. prompt_ticks and reply_ticks are totals of
 * all replies. Errors as ingot_generate; INGOT_BAD_ARGUMENT also if n is 0 or above
 * INGOT_MOST_SESSIONS, or a session is listed twice or belongs to another model. After an error,
 * each reply keeps the tokens that it had by then. */
enum ingot_error ingot_generate_parallel(struct ingot_reply *replies, uint32_t n);

/* The function's older name, of version 0.2; it stays for two more versions. */
#define ingot_generate_together ingot_generate_parallel

/* ---- tokens --------------------------------------------------------------------------------- */

/* Write to ids the *n tokens that ingot_prompt would add. begins: as if the session were empty.
 * room: size of ids. *n is 0 after an error. Errors: INGOT_TOO_LONG if ids has no room for the
 * tokens, or if the text exceeds INGOT_MOST_TEXT. */
enum ingot_error ingot_tokenize(struct ingot_session *session, const char *text, size_t bytes,
                                bool begins, uint32_t *ids, size_t room, size_t *n);

/* Return the text of token id after token `previous`; if previous >= vocab, id is the first token.
 * The text has *bytes bytes and no terminator, and can be a part of a character. Never NULL; "" for
 * control tokens and wrong arguments. The text lives as long as the model. Call this after
 * ingot_open. */
const char *ingot_token_text(const struct ingot_model *model, uint32_t id, uint32_t previous,
                             size_t *bytes);

/* The session's tokens: *ids (*n), valid until the next call. */
enum ingot_error ingot_tokens(const struct ingot_session *session, const uint32_t **ids, size_t *n);

/* Add tokens. Errors: INGOT_TOO_LONG. INGOT_BAD_ARGUMENT also if an id is too large. After these
 * errors, no token was added. */
enum ingot_error ingot_append(struct ingot_session *session, const uint32_t *ids, size_t n);

/* Keep the first n tokens and forget the others; does nothing if there are fewer. */
enum ingot_error ingot_cut(struct ingot_session *session, size_t n);

/* Compute the added tokens, and return the logits after the last token: *logits (vocab) f32, valid
 * until the next call. Errors: as ingot_generate. */
enum ingot_error ingot_logits(struct ingot_session *session, const float **logits);

/* For tests: FNV-1a 64 over the logits of the first 32 positions computed since the session was
 * empty, and the number of these positions. The same calls give the same hash on every machine. */
enum ingot_error ingot_logits_hash(const struct ingot_session *session, uint64_t *hash,
                                   uint32_t *positions);

#ifdef __cplusplus
}
#endif

#endif
