/* The boot arguments and the host program's command line: options `name=value` and flags. */
#ifndef INGOT_RUNTIME_OPTIONS_H
#define INGOT_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"
#include "runtime/options/pin_list.h"
#include "runtime/options/sensor_list.h"
#include "runtime/options/adapter_list.h"
#include "runtime/options/lock_value.h"
#include "runtime/session/sampler.h"
#include "runtime/session/speculative.h"

enum {
    OPTIONS_PROMPT_BYTES = 4096, /* sizes of texts include the NUL */
    OPTIONS_MODEL_BYTES = 256,
    OPTIONS_PRESET_BYTES = 64,
    OPTIONS_SYSTEM_BYTES = 2048,
    OPTIONS_GRAMMAR_BYTES = 512,
    OPTIONS_ACTIONS_BYTES = 512,
    OPTIONS_ISA_BYTES = 16,
    OPTIONS_NET_BYTES = 64,
    OPTIONS_TIME_BYTES = 32,
    OPTIONS_NAME_BYTES = 32,
    OPTIONS_TOKEN_BYTES = 128,
    OPTIONS_STOPS = 4,
    OPTIONS_BRANCHES = 8,
    OPTIONS_BEAMS = 4,
    OPTIONS_TOGETHER = 8,
    OPTIONS_STOP_BYTES = 64,
    OPTIONS_ERROR_MESSAGE_BYTES = 256, /* longest error message of a report, with its NUL */
    OPTIONS_VALUE_BYTES = 32,          /* longest value of an option that is not a text */
};

/* The options of options.def, in its order. */
enum option {
#define OPTION(id, ...) OPTION_##id,
#include "runtime/options/options.def"
    OPTION_COUNT
};

/* How an option may be set after the start, as bits. */
enum option_where { OPTION_BY_SET = 1, OPTION_IN_PRESET = 2, OPTION_IN_JSON = 4 };

/* A set of options. */
struct option_set {
    uint64_t bits[(OPTION_COUNT + 63) / 64];
};

static inline bool option_set_has(const struct option_set *s, enum option which)
{
    return (s->bits[which / 64] >> which % 64 & 1) != 0;
}

static inline void option_set_put(struct option_set *s, enum option which, bool in)
{
    uint64_t bit = UINT64_C(1) << which % 64;

    s->bits[which / 64] &= ~bit;
    if (in) {
        s->bits[which / 64] |= bit;
    }
}

static inline void option_set_add(struct option_set *s, const struct option_set *more)
{
    for (unsigned i = 0; i < sizeof s->bits / sizeof s->bits[0]; i++) {
        s->bits[i] |= more->bits[i];
    }
}

static inline bool option_set_is_empty(const struct option_set *s)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < sizeof s->bits / sizeof s->bits[0]; i++) {
        any |= s->bits[i];
    }
    return any == 0;
}

/* THINK_ON: same as THINK_DIM on a terminal; elsewhere thoughts are shown unchanged. */
enum option_think { THINK_ON, THINK_OFF, THINK_SHOW, THINK_DIM, THINK_HIDE };
/* When the context is full, TURNS drops the oldest turns. SINKS drops tokens after the first
 * ones, which attract attention (arXiv 2309.17453), and computes nothing again. */
enum option_overflow { OVERFLOW_TURNS, OVERFLOW_SINKS };
/* LOOSE: no gate closes the adapter, and no EWC penalty protects earlier lessons
 * (runtime/features/lessons/ewc.h). */
enum option_learn { LEARN_OFF, LEARN_ON, LEARN_LOOSE };
enum option_log { LOG_OFF, LOG_ON };
/* WATCH: the policy learns, but its choices are not used. EXPLORE: now and then the policy tries
 * another choice. */
enum option_policy { POLICY_OFF, POLICY_WATCH, POLICY_ON, POLICY_EXPLORE };
/* DEMAND requests experts when a router names them. AHEAD also requests the experts that the next
 * layer's router will probably name. */
enum option_experts { EXPERTS_DEMAND, EXPERTS_AHEAD };
enum option_flow { FLOW_ON, FLOW_OFF };
enum option_pcie { PCIE_GEN2, PCIE_GEN3 };
enum option_screen { SCREEN_ON, SCREEN_OFF };
enum option_mode { MODE_CHAT, MODE_JSON };

struct options_kv {
    struct kv_types types;
    bool card; /* keys and values may spill to the card */
};

/* The members of the structs below are the rows of options.def. While a struct is declared, only
 * the OPTIONS_IN_ macro of its group keeps its argument, so all other rows are left out. */
#define OPTIONS_TYPE_TEXT(bytes) __typeof__(char[bytes])
#define OPTIONS_TYPE_SAID(bytes, length) __typeof__(char[bytes])
#define OPTIONS_TYPE_LIST(bytes, check) __typeof__(char[bytes])
#define OPTIONS_TYPE_ADAPTERS() __typeof__(char[ADAPTER_LIST_BYTES])
#define OPTIONS_TYPE_STOP() __typeof__(char[OPTIONS_STOPS][OPTIONS_STOP_BYTES])
#define OPTIONS_TYPE_CHOICE(choices) uint32_t
#define OPTIONS_TYPE_COUNT(least, most) uint32_t
#define OPTIONS_TYPE_LIMIT(most) uint32_t
#define OPTIONS_TYPE_NUMBER(least, most) float
#define OPTIONS_TYPE_SIZE() uint64_t
#define OPTIONS_TYPE_SEED() uint64_t
#define OPTIONS_TYPE_FLAG() bool
#define OPTIONS_TYPE_KV() struct options_kv
#define OPTIONS_TYPE_LOCK() struct lock_value

#define OPTIONS_IN_load(...)
#define OPTIONS_IN_acting(...)
#define OPTIONS_IN_reply(...)
#define OPTIONS_IN_machine(...)
#define OPTIONS_IN_line(...)
#define OPTIONS_IN_show(...)
#define OPTIONS_IN_feature(...)
#define OPTIONS_IN_sampler(...)
#define OPTIONS_MEMBER(group, member, type) OPTIONS_IN_##group(OPTIONS_TYPE_##type member;)

/* Which model, and its layout. Texts: "" means none. adapters 0 means as much memory as the given
 * adapters need, and ctx 0 means the model's own context. beams 1 means sampling. mem 0 means all
 * memory that is left. */
struct options_load {
#undef OPTIONS_IN_load
#define OPTIONS_IN_load(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_load
#define OPTIONS_IN_load(...)
};

/* The model's permissions. pins and sensors are lists for pin_list_read and sensor_list_read.
 * actions are lines if the text has a space, otherwise a file's name. said is an action_need. */
struct options_acting {
#undef OPTIONS_IN_acting
#define OPTIONS_IN_acting(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_acting
#define OPTIONS_IN_acting(...)
};

/* The input of a reply, and what ends the reply. n 0 means that the reply goes on until the model
 * ends it or the context is full. */
struct options_reply {
#undef OPTIONS_IN_reply
#define OPTIONS_IN_reply(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_reply
#define OPTIONS_IN_reply(...)
    size_t prompt_bytes, system_bytes; /* without the NUL */
    uint32_t n_stops;
};

/* cores 0 means all, isa "" the best of the CPU, and dmaend 0 the hardware's limit. watchdog is in
 * seconds; 0 means none. keyboard is an enum keyboard_layout_name of board/keyboard.h. net "" means
 * no network. name, token and time are "" if not given. */
struct options_machine {
#undef OPTIONS_IN_machine
#define OPTIONS_IN_machine(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_machine
#define OPTIONS_IN_machine(...)
};

/* The serial line, and what is at its other end. baud: 0 means the board's rate; term: enum
 * console_terminal. */
struct options_line {
#undef OPTIONS_IN_line
#define OPTIONS_IN_line(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_line
#define OPTIONS_IN_line(...)
    bool locked;        /* the line is locked now; commands change this */
    uint32_t silence_s; /* seconds of silence after which mode=json ends, set by /mode json SECONDS;
                         * 0: no limit */
};

/* Output in addition to replies. */
struct options_show {
#undef OPTIONS_IN_show
#define OPTIONS_IN_show(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_show
#define OPTIONS_IN_show(...)
};

/* Options of features. log: enum option_log. */
struct options_feature {
#undef OPTIONS_IN_feature
#define OPTIONS_IN_feature(...) __VA_ARGS__
#define OPTION(id, name, group, member, type, ...) OPTIONS_MEMBER(group, member, type)
#include "runtime/options/options.def"
#undef OPTIONS_IN_feature
#define OPTIONS_IN_feature(...)
};

struct options {
    struct option_set given;   /* read it with options_given() */
    struct option_set refused; /* options whose value could not be used; read it with
                                * options_refused() */
    struct options_load load;
    struct options_acting acting;
    struct options_reply reply;
    struct sampler_params sampler; /* seed is 0 unless given; if it is 0, the caller uses ticks */
    struct options_machine machine;
    struct options_line line;
    struct options_show show;
    struct options_feature feature;
    char value[OPTIONS_PROMPT_BYTES]; /* work space of options_parse() to unquote a value */
};

/* The sink of error messages. `refused` is true if a value cannot be used, and false if an option
 * is unknown and ignored. An error message has no full stop, no newline and fewer than
 * OPTIONS_ERROR_MESSAGE_BYTES bytes. say may be NULL. */
struct options_report {
    void (*say)(void *context, bool refused, const char *error_message);
    void *context;
};

/* Set the defaults: no option is given. */
void options_init(struct options *o);

static inline bool options_given(const struct options *o, enum option which)
{
    return option_set_has(&o->given, which);
}

/* Return true if this option was given with an unusable value. */
static inline bool options_refused(const struct options *o, enum option which)
{
    return option_set_has(&o->refused, which);
}

/* Return how to guess tokens, as spec= and draft= say. */
static inline struct speculative_params options_speculative(const struct options *o)
{
    return (struct speculative_params){ .mode = (enum speculative_mode)o->load.spec,
                                        .has_draft = o->load.draft[0] != '\0' };
}

/* Read the options of args (NUL-terminated) into o, which options_init() has set. Options are
 * separated by white space; a value may be in double quotes, inside which \n, \t, \" and \\ are
 * escapes. Options that firmware, QEMU and Linux habits add (console=, root=, rw ...) are
 * ignored silently. If an option comes twice, the later value is used, but every stop= adds a
 * string. A malformed value leaves its option unchanged, and the following options are still read;
 * o->refused has the option until a later value of it is valid. Errors: ERR_BAD_ARGUMENT (a message
 * was reported), ERR_TOO_LONG (a text does not fit). The first error is returned. */
enum err options_parse(struct options *o, const char *args, const struct options_report *report);

/* Parse a preset: options that are already in o->given are skipped. If `running` is true, set only
 * options that may change after the start; for each other option, the report says that it needs a
 * start. */
enum err options_parse_preset(struct options *o, const char *args, bool running,
                              const struct options_report *report);

/* Set one option from its name ("temp") and value, both NUL-terminated and without quotes, as in
 * argv. value is NULL for a flag. Errors: those of options_parse; an unknown name gives
 * ERR_NOT_FOUND without a message. */
enum err options_set(struct options *o, const char *name, const char *value,
                     const struct options_report *report);

/* Works like options_set, for a text that a person typed. If the text begins with a double quote,
 * quotes and escapes work as in options_parse; otherwise the text stays unchanged. ERR_BAD_ARGUMENT
 * is also returned if the closing quote is missing or text follows it. */
enum err options_set_quoted(struct options *o, const char *name, const char *value,
                            const struct options_report *report);

/* Each sampling option that was not given gets the model's default, or the program's default if the
 * model has none. These options still count as not given, so that the next model's defaults replace
 * them. */
void options_take_sampling(struct options *o, const struct ingot_sampling *model);

/* Return the sampling options that were given, in the form of a model's defaults. */
struct ingot_sampling options_given_sampling(const struct options *o);

/* Remove the sampling options from a set. */
void options_drop_sampling(struct option_set *s);

/* The options that /set, presets and requests may change. A copy restores these options if a
 * request is refused halfway. */
#define OPTIONS_KEPT_START(...)
#define OPTIONS_KEPT_SET_PRESET(...)
#define OPTIONS_KEPT_PRESET_JSON(...)
#define OPTIONS_KEPT_PRESET(...)
#define OPTIONS_KEPT_SET_PRESET_JSON(...) __VA_ARGS__
struct options_kept {
#define OPTION(id, name, group, member, type, initial, where, ...) \
    OPTIONS_KEPT_##where(OPTIONS_TYPE_##type group##_##member;)
#include "runtime/options/options.def"
    uint32_t n_stops;
};

/* Copy these members of *o to *kept, or back to *o. */
void options_keep(struct options_kept *kept, const struct options *o);
void options_put_back(struct options *o, const struct options_kept *kept);

/* Return the option of this name, or OPTION_COUNT if there is none. */
enum option options_of_name(const char *name);

/* options_name returns the text in front of an option's "=". options_accepts returns the values
 * that the option takes, as the end of a sentence "NAME takes ...". Both are static strings. */
const char *options_name(enum option which);
const char *options_accepts(enum option which);

/* Return how the option may be set after the start, as bits of enum option_where. */
unsigned options_where(enum option which);

/* Write the value of a choice, a number or a flag in the form that /set takes. Returns text. */
const char *options_value_text(const struct options *o, enum option which,
                               char text[OPTIONS_VALUE_BYTES]);

/* Read a decimal number, such as 12, -0.125 or 1e-3: the nearest f64 (up to 15 digits and 10^22;
 * beyond that within a few ulp of f64), rounded to f32. If the text is not a number, or the number
 * is too large for f32, return false and leave *value unchanged. */
bool options_read_float(const char *text, float *value);

/* Read a decimal or 0x hexadecimal number of up to 64 bits. If `sizes` is true, a K, M or G (either
 * case, with or without iB or B after it) multiplies by a power of 1024. If the text is not a
 * number, or the number has more than 64 bits, return false and leave *value unchanged. */
bool options_read_u64(const char *text, bool sizes, uint64_t *value);

#endif
