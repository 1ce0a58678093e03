/* Boot arguments, and the host program's command line: words `name=value` and flags. */
#ifndef INGOT_RUNTIME_OPTIONS_H
#define INGOT_RUNTIME_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/options/pin_list.h"
#include "runtime/options/sensor_list.h"
#include "runtime/options/adapter_list.h"
#include "runtime/options/lock_word.h"
#include "runtime/session/sampler.h"
#include "runtime/session/speculative.h"

enum {
    OPTIONS_PROMPT_BYTES = 4096, /* with the terminating NUL, as the three below */
    OPTIONS_MODEL_BYTES = 256,
    OPTIONS_PRESET_BYTES = 64,
    OPTIONS_SYSTEM_BYTES = 2048,
    OPTIONS_GRAMMAR_BYTES = 512,
    OPTIONS_ACTIONS_BYTES = 512,
    OPTIONS_ISA_BYTES = 16,
    OPTIONS_STOPS = 4,
    OPTIONS_BRANCHES = 8,
    OPTIONS_BEAMS = 4,
    OPTIONS_TOGETHER = 8,
    OPTIONS_STOP_BYTES = 64,
    OPTIONS_SENTENCE_BYTES = 256, /* longest sentence of a report, with its NUL */
};

enum option {
    OPTION_MODEL, /* model=PATH, a file on the card (host: any file) */
    OPTION_PRESET, /* preset=NAME: the words of presets/NAME.txt, where none of their name is given */
    OPTION_PROMPT,   /* prompt="TEXT": generate once and power off */
    OPTION_SYSTEM,   /* system="TEXT": the system prompt; empty: none, not even the model's own */
    OPTION_THINK,    /* think=off, where the model's template knows it; on, or how thoughts are
                      * shown: show, dim, hide */
    OPTION_STOP,     /* stop="TEXT" ends a reply; up to four of them */
    OPTION_OVERFLOW, /* overflow=turns or sinks: what goes when the context is full */
    OPTION_TURNS,    /* turns=COUNT that a conversation has at the most; 0: as many as fit */
    OPTION_QUIET,    /* quiet: no line of figures after a reply */
    OPTION_N,        /* n=COUNT of tokens to generate */
    OPTION_TEMP,     /* temp=0.8 */
    OPTION_TOP_P,    /* top_p=0.95 */
    OPTION_TOP_K,    /* top_k=40 */
    OPTION_MIN_P,    /* min_p=0.05 */
    OPTION_REPEAT,   /* repeat=1.0, or repeat_penalty=1.0 */
    OPTION_REPEAT_LAST, /* repeat_last_n=64 */
    OPTION_PRESENCE,    /* presence_penalty=0 */
    OPTION_FREQUENCY,   /* frequency_penalty=0 */
    OPTION_SEED,        /* seed=NUMBER, 64 bits */
    OPTION_CTX,         /* ctx=TOKENS */
    OPTION_BEAMS,       /* beams=COUNT of replies that are searched at once */
    OPTION_TOGETHER,    /* together=COUNT of sequences that can run side by side */
    OPTION_LEARN,       /* learn=on or loose: /good, /bad and /teach change what the model says */
    OPTION_POLICY,      /* policy=watch, on or explore: how turns are answered is learnt */
    OPTION_LOG,         /* log=on: turns go to ingot.log on the card */
    OPTION_BRANCHES,    /* branches=COUNT that /branch and /retry can keep */
    OPTION_KV,          /* kv=f16 or another type of kv_format.h, or kv=KEYS,VALUES; kv=card and
                      * card,TYPES: they may spill to a file of the card */
    OPTION_EXPERTS,     /* experts=demand or ahead: when those that are not in the cache are read */
    OPTION_PINNED,      /* pinned=COUNT of a layer's experts that stay in the cache */
    OPTION_SPEC,        /* spec=auto, off or ngram: tokens guessed ahead of a pass */
    OPTION_DRAFT,       /* draft=PATH, a small model that guesses them */
    OPTION_ADAPTER,     /* adapter=NAME, NAME:SCALE, several with commas: adapters (LoRA) at work */
    OPTION_GRAMMAR, /* grammar=NAME, a file of the card, or a list of choices: what replies are held to;
                      * on: room for those that /grammar names */
    OPTION_PINS, /* pins=light:3,door:5:in: the GPIO lines that a model may act on (pin_list.h) */
    OPTION_SENSORS, /* sensors=room:i2c1:0x48:tmp105: what it may read on I2C (sensor_list.h) */
    OPTION_ACTIONS, /* actions=NAME, a file of the card, or its lines: more that it may do */
    OPTION_DRY,     /* dry: what it does is said, and no line is touched */
    OPTION_ACTIONS_MINUTE, /* actions_minute=COUNT at the most; 0: no limit */
    OPTION_ACTIONS_SAID,   /* actions_said=value, name or off: of a line, before it is driven */
    OPTION_ADAPTERS,       /* adapters=BYTES that they may take; K, M, G are powers of 1024 */
    OPTION_MEM,            /* mem=BYTES for weights; K, M, G are powers of 1024 */
    OPTION_CORES,          /* cores=1..8 */
    OPTION_ISA,            /* isa=NAME, checked by kernels_force() */
    OPTION_PIO,            /* pio: a core moves the card's data, on a board that has the choice */
    OPTION_DMAEND,         /* dmaend=ADDRESS, where the DMA of cards ends: to try out a bounce */
    OPTION_PCIE,           /* pcie=gen3: the highest rate of the lane, on a Raspberry Pi 5 */
    OPTION_SCREEN,         /* screen=off: a display that is attached stays as it is */
    OPTION_KEYBOARD,       /* keyboard=de: what is printed on a USB keyboard's keys */
    OPTION_BAUD,           /* baud=115200 */
    OPTION_TERM,           /* term=auto, plain or vt: what reads the serial line */
    OPTION_MODE,           /* mode=chat or json: who is at the serial line */
    OPTION_LOCK,           /* lock=SALT:HASH of a PIN, without which the line only chats */
    OPTION_FLOW,           /* flow=on or off: XON/XOFF on the serial line */
    OPTION_WATCHDOG,       /* watchdog=SECONDS; 0: none */
    OPTION_VERBOSE,        /* verbose: all of the plan at start */
    OPTION_SELFTEST,       /* selftest: check the kernels at start */
    OPTION_IDS,            /* ids: print token ids and the hash of the logits */
    OPTION_TICKS,          /* ticks: print how far the board's counter went */
    OPTION_DIAG,           /* diag: print what the machine says of itself */
    OPTION_TRACE,          /* trace=1: print a Chrome trace after each reply */
    OPTION_COUNT
};

/* THINK_ON: as THINK_DIM, on a terminal; elsewhere thoughts are as they are. */
enum option_think { THINK_ON, THINK_OFF, THINK_SHOW, THINK_DIM, THINK_HIDE };
/* The oldest turns; or tokens from after the first ones on, which take the attention that nothing else
 * gets (arXiv 2309.17453), and nothing is computed again. */
enum option_overflow { OVERFLOW_TURNS, OVERFLOW_SINKS };
/* LOOSE: no springs hold what was learnt before (runtime/features/lessons/ewc.h). */
enum option_learn { LEARN_OFF, LEARN_ON, LEARN_LOOSE };
enum option_log { LOG_OFF, LOG_ON };
/* WATCH: it learns, and nothing obeys it; EXPLORE: it tries what it would not choose now and then. */
enum option_policy { POLICY_OFF, POLICY_WATCH, POLICY_ON, POLICY_EXPLORE };
/* When a router names them; or also those that the next one is likely to name. */
enum option_experts { EXPERTS_DEMAND, EXPERTS_AHEAD };
enum option_flow { FLOW_ON, FLOW_OFF };
enum option_pcie { PCIE_GEN2, PCIE_GEN3 };
enum option_screen { SCREEN_ON, SCREEN_OFF };
enum option_mode { MODE_CHAT, MODE_JSON };

struct options_kv {
    struct kv_types types;
    bool card; /* they may spill to it */
};

/* Which model, and how it is laid out. */
struct options_load {
    char model[OPTIONS_MODEL_BYTES];
    char draft[OPTIONS_MODEL_BYTES];     /* "": none */
    char preset[OPTIONS_PRESET_BYTES];   /* "": none */
    char adapter[ADAPTER_LIST_BYTES];    /* a list that adapter_list_read takes; "": none */
    char grammar[OPTIONS_GRAMMAR_BYTES]; /* "on": room alone; "": none */
    uint64_t adapters;                   /* 0: what those there are take */
    uint32_t ctx;                        /* 0: the model's own */
    uint32_t beams;                      /* 1: tokens are sampled */
    uint32_t together;                   /* sequences side by side (session_group.h) */
    uint32_t learn;                      /* enum option_learn */
    uint32_t policy;                     /* enum option_policy */
    uint32_t log;                        /* enum option_log */
    uint32_t branches;                   /* that chats keep room for */
    struct options_kv kv;
    uint32_t experts; /* enum option_experts */
    uint32_t pinned;
    uint32_t spec; /* enum speculative_mode */
    uint64_t mem;  /* 0: all that is left */
};

/* What the model may do. */
struct options_acting {
    char pins[PIN_LIST_BYTES];           /* a list that pin_list_read takes; "": none */
    char sensors[SENSOR_LIST_BYTES];     /* the same of sensor_list_read */
    char actions[OPTIONS_ACTIONS_BYTES]; /* lines, where a space is in it; else a file's name */
    bool dry;
    uint32_t a_minute;
    uint32_t said; /* enum action_need */
};

/* What a reply is given and where it ends. */
struct options_reply {
    char prompt[OPTIONS_PROMPT_BYTES]; /* UTF-8 as given, may be empty although given */
    size_t prompt_bytes;               /* without the NUL */
    char system[OPTIONS_SYSTEM_BYTES]; /* as the prompt */
    size_t system_bytes;
    uint32_t think;    /* enum option_think */
    uint32_t overflow; /* enum option_overflow */
    uint32_t turns;    /* at the most; 0: as many as fit */
    uint32_t n;        /* 0: until the model ends or the context is full */
    char stop[OPTIONS_STOPS][OPTIONS_STOP_BYTES];
    uint32_t n_stops;
};

struct options_machine {
    uint32_t cores;              /* 0: all */
    char isa[OPTIONS_ISA_BYTES]; /* "": the best the CPU has */
    bool pio;
    bool selftest;
    uint32_t pcie;     /* enum option_pcie */
    uint32_t screen;   /* enum option_screen */
    uint32_t keyboard; /* enum keyboard_layout_name of board/keyboard.h */
    uint64_t dmaend;   /* 0: as the hardware has it */
    uint32_t watchdog; /* seconds, if given */
};

/* The serial line, and who is at it. */
struct options_line {
    uint32_t baud; /* 0: the board's */
    uint32_t mode; /* enum option_mode */
    uint32_t flow; /* enum option_flow */
    uint32_t term; /* enum console_terminal */
    struct lock_word lock;
    bool locked; /* now: commands change it */
    uint32_t
        silence_s; /* after which mode=json ends, as /mode json SECONDS asked for; 0: it stays */
};

/* What is printed beside replies. */
struct options_show {
    bool quiet;
    bool verbose;
    bool ids;
    bool ticks;
    bool diag;
    uint32_t trace; /* 1: on */
};

struct options {
    uint64_t given;   /* bit 1 << enum option; ask options_given() */
    uint64_t refused; /* the same, of words whose value was none; ask options_refused() */
    struct options_load load;
    struct options_acting acting;
    struct options_reply reply;
    struct sampler_params sampler; /* seed: 0 unless given; the caller takes ticks then */
    struct options_machine machine;
    struct options_line line;
    struct options_show show;
    char value[OPTIONS_PROMPT_BYTES]; /* where options_parse() unquotes a word */
};

/* "on", "hide" and so on. */
const char *options_think_name(uint32_t think);
const char *options_overflow_name(uint32_t overflow);

/* Where sentences go. refused: a value that cannot be used; otherwise an unknown word, which is passed
 * over. A sentence has no full stop, no newline and less than OPTIONS_SENTENCE_BYTES. say may be NULL. */
struct options_report {
    void (*say)(void *context, bool refused, const char *sentence);
    void *context;
};

/* Nothing given, the defaults of the fields above. */
void options_init(struct options *o);

static inline bool options_given(const struct options *o, enum option which)
{
    return (o->given >> which) & 1;
}

/* Whether a word of that name was there whose value could not be used. */
static inline bool options_refused(const struct options *o, enum option which)
{
    return (o->refused >> which) & 1;
}

/* How to guess tokens, from spec= and draft=. */
static inline struct speculative_params options_speculative(const struct options *o)
{
    return (struct speculative_params){ .mode = (enum speculative_mode)o->load.spec,
                                        .has_draft = o->load.draft[0] != '\0' };
}

/* Read the words of args (NUL-terminated) into o, which options_init() has set. Words are
 * separated by white space; a value may stand in double quotes, inside which \n, \t, \" and \\
 * are escapes. Words that firmware, QEMU and Linux habits add (console=, root=, rw ...) are
 * passed over without a sentence. The later of two equal words counts, but each stop= adds one. A
 * malformed value leaves its option as it was, and the words after it are still read; o->refused
 * notes it until a later word of that name is better.
 * Errors: ERR_BAD_ARGUMENT (a sentence was reported), ERR_TOO_LONG (a text does not fit). The
 * first error is returned. */
enum err options_parse(struct options *o, const char *args, const struct options_report *report);

/* The same of a preset: words of o->given as it is before are passed over. `only`: bits of the options that
 * are set, others are said to be for the next start. */
enum err options_parse_preset(struct options *o, const char *args, uint64_t only,
                              const struct options_report *report);

/* Set one option from its name ("temp") and value, both NUL-terminated and without quotes: for
 * argv. value is NULL for a flag. Errors as above; an unknown name is ERR_NOT_FOUND and silent. */
enum err options_set(struct options *o, const char *name, const char *value,
                     const struct options_report *report);

/* The same of a text that a person typed: in double quotes with their escapes, as a value among the
 * words of options_parse, where it begins with one; else as it stands. ERR_BAD_ARGUMENT also where the
 * closing quote is missing, or something comes behind it. */
enum err options_set_quoted(struct options *o, const char *name, const char *value,
                            const struct options_report *report);

/* The option of a name; OPTION_COUNT: none. */
enum option options_of_name(const char *name);

/* The word in front of an option's "=", and its values as the end of a sentence "NAME takes ...". Both are static strings. */
const char *options_name(enum option which);
const char *options_accepts(enum option which);

/* Decimal, such as 12, -0.125 or 1e-3, as the nearest f64 (up to 15 digits and 10^22; a few ulp
 * of f64 beyond) rounded to f32. False: not a number, or beyond f32; *value is left alone. */
bool options_read_float(const char *text, float *value);

/* Decimal or 0x hexadecimal to 64 bits; with `sizes` one of K, M, G (either case, with or without
 * iB or B after it) multiplies by a power of 1024. False: not a number, or beyond 64 bits; *value
 * is left alone. */
bool options_read_u64(const char *text, bool sizes, uint64_t *value);

#endif
