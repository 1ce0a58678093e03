/* The arguments of `ingot card`: its operands and the rows of its options. */
#ifndef INGOT_HOST_CARD_ARGS_H
#define INGOT_HOST_CARD_ARGS_H

#include "host/card/card_models.h"
#include "host/args/command_line.h"
#include "host/cli/pack_type.h"

#define SAVE_BY_MODEL UINT64_MAX /* without --save */

struct card_args {
    const char *board;
    const char *models[CARD_MOST_MODELS];
    size_t n_models;
    const char *out;
    uint64_t size;                /* 0: as large as needed */
    uint64_t save, kv, log, kept; /* MiB */
    const char *names;
    const char *system; /* NULL: no prefix is computed */
    const char *words, *firmware, *boards, *sign;
    struct pack_options pack;
    unsigned format, table; /* enum card_format and enum card_table */
    bool power_of_two;
};

/* Read an operand: first the board, then models. Returns false if there are too many. */
bool card_args_operand(void *arguments, const char *word);

/* Ended by NULL. */
extern const struct command_option *const card_args_options[];

#endif
