/* What the host's commands share: their options, and a model opened from a path. */
#ifndef INGOT_BOARD_HOST_HOST_MODEL_H
#define INGOT_BOARD_HOST_HOST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/host/file_device.h"
#include "flash_image/source/map_file.h"
#include "runtime/compute/workers.h"
#include "runtime/options/options.h"
#include "runtime/model/model.h"
#include "runtime/session/session.h"
#include "runtime/storage/file.h"

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

/* A model file that is open: read, or mapped. */
struct host_file {
    const struct platform *platform; /* that waits for it */
    struct file_device device_state;
    struct block_device device;
    struct file file;
    struct mapping mapping; /* --mmap */
    bool open;
};

struct host_model {
    struct machine machine;
    struct platform platform;
    struct trace trace;
    struct host_file source;
    struct host_file draft_source;
    struct host_file kv_source;
    struct workers workers;
    struct kernels kernels;
    uint32_t features; /* that the kernels were chosen by */
    struct model_setup setup;
    struct model model;
    struct session session;
    struct model_setup draft_setup;
    struct model draft_model;
    struct session draft_session;
    struct session *draft; /* --draft: the session above; else NULL */
};

/* Open args->model (an .ingot; a GGUF or llama2.c file is packed to a temporary file first) up
 * to the plan. The model is one static struct. False: said on standard error. */
bool host_model_open(struct host_model *m, const struct host_args *args);

/* The same with the args->model of now, in place of what the model was. */
bool host_model_change(struct host_model *m, const struct host_args *args);

/* Load the weights. */
bool host_model_load(struct host_model *m, const struct host_args *args);

#endif
