/* The command line of the commands that run a model. */
#ifndef INGOT_HOST_HOST_ARGS_H
#define INGOT_HOST_HOST_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/options/options.h"
#include "runtime/stream/plan.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct host_args {
    const char *command;
    const char *model;  /* the one word without a dash; NULL: none */
    const char *file;   /* -f, --file */
    const char *output; /* -o, --output */
    const char *tokenizer;
    const char *template; /* --template; NULL: the model's */
    const char *trace;    /* --trace: file for a Chrome trace of the reply; NULL: none */
    const char *kv_file;  /* --kv-file: where keys and values spill to with --kv card */
    const char *tokens;   /* --tokens: ids in place of a prompt */
    uint64_t card_rate;   /* --card: read the file at this pace, bytes a second; 0: as it comes */
    uint64_t ram;         /* --ram: bytes of the arena; 0: the computer's */
    uint32_t chunk;       /* --chunk; 0: default */
    struct plan_rates rates; /* --mem-bw and --macs of another machine, for `ingot plan` */
    bool predict;            /* one of them, or --board: this computer is not measured */
    bool fit;                /* --fit */
    bool in_place;           /* --mmap: map the file and use it where it lies */
    bool no_bos;
    bool quiet; /* no log lines */
    bool help;
    struct options options;
};

/* Read argv[1..] of a command. False: a sentence was said on standard error. */
bool host_args_parse(struct host_args *args, int argc, char **argv);

/* Options of all commands, for --help. */
void host_args_help(void);

/* --template list: whether name asks for it; and the list. */
bool host_args_wants_templates(const char *name);
void host_args_list_templates(void);

#endif
