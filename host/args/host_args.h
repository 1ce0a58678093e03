/* The arguments of the commands that run a model, and the rows of their options. */
#ifndef INGOT_HOST_HOST_ARGS_H
#define INGOT_HOST_HOST_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/args/command_line.h"
#include "host/args/host_flags.h"
#include "runtime/options/options.h"
#include "runtime/stream/plan.h"

struct host_args {
    const char *command;
    const char *model;  /* the operand, or -m; NULL: none */
    const char *prompt; /* -p; NULL: not given */
    const char *file;   /* -f, --file */
    const char *output; /* -o, --output */
    const char *tokenizer;
    const char *template; /* --template; NULL: the model's template */
    const char *trace;    /* --trace: file for a Chrome trace of the reply; NULL: none */
    const char *kv_file;  /* --kv-file: file for keys and values with --kv card */
    const char
        *public_key;    /* --public-key: file with the key of every signature; NULL: not given */
    const char *prefix; /* --prefix: file with the beginning of conversations; NULL: none */
    const char *tokens; /* --tokens: ids instead of a prompt */
    uint64_t card_rate; /* --card: rate at which the file is read, bytes per second; 0: no limit */
    uint64_t ram;       /* --ram: bytes of the arena; 0: all of the computer's memory */
    uint32_t usual_context;  /* tokens without --ctx, at most the model's; 0: default */
    uint32_t chunk;          /* --chunk; 0: default */
    struct plan_rates rates; /* --mem-bw and --macs of another machine, for `ingot plan` */
    uint64_t memory_rate;    /* --mem-bw as typed; 0: not given */
    bool macs;               /* --macs was given */
    const char *board; /* --board of `ingot plan`; NULL: this computer, or a board described by its
                      rates */
    bool predict;      /* a rate was given, so this computer is not measured */
    bool fit;          /* --fit */
    bool in_place;     /* --mmap: map the file and use it in place */
    bool no_bos;
    bool quiet; /* print no log lines and no figures */
    struct options options;
};

/* Sets the arguments to their defaults. */
void host_args_init(struct host_args *args, const char *command);

/* Calls host_args_init, then command_line_read, for a command with these arguments. */
bool host_args_read(const struct command *c, struct host_args *args, int argc, char **argv,
                    int *status);

/* ---- rows of options that boards do not have; host_flags.h has the others ---- */

enum host_option {
    /* the prompt and the reply  */
    HOST_PROMPT,
    HOST_TEMPLATE,
    /* the model and its memory */
    HOST_MODEL,
    HOST_TOKENIZER,
    HOST_KV_FILE,
    HOST_PUBLIC_KEY,
    HOST_PREFIX,
    HOST_RAM,
    HOST_MMAP,
    HOST_CARD,
    HOST_CHUNK,
    /* what is printed */
    HOST_TRACE,
    HOST_JSON,
    HOST_QUIET,
    /* headings */
    HOST_TITLE_REPLY,
    HOST_TITLE_SAMPLING,
    HOST_TITLE_MODEL,
    HOST_TITLE_LEARNING,
    HOST_TITLE_ACTING,
    HOST_TITLE_COMPUTER,
    HOST_TITLE_OUTPUT,
    HOST_OPTIONS
};

extern const struct command_option host_options[HOST_OPTIONS];

#define HOST_ROW(option) &host_options[HOST_##option]

/* Rows for every command that loads a model, in the order of the help; rows about the model
 * may come between the two macros. HOST_FLAGS stands for those options of the command that boards
 * have too. */
#define HOST_ROWS_LOAD \
    HOST_ROW(TITLE_MODEL), HOST_ROW(MODEL), HOST_ROW(PUBLIC_KEY), HOST_ROW(TOKENIZER), \
        HOST_FLAGS(MODEL), HOST_ROW(KV_FILE), HOST_ROW(RAM), HOST_ROW(MMAP), HOST_ROW(CARD), \
        HOST_ROW(CHUNK)
#define HOST_ROWS_COMPUTER HOST_ROW(TITLE_COMPUTER), HOST_FLAGS(MACHINE)

/* Functions for other rows. host_args_set_word, for `set`, passes o->word (a boot argument's name)
 * and value to args->options. host_args_read_rate reads a rate (2.4G), and host_args_list_templates
 * lists chat templates. */
enum option_result host_args_set_word(void *args, const struct command_option *o,
                                      const char *value);
bool host_args_read_rate(const char *value, uint64_t *out);
void host_args_list_templates(void);

#endif
