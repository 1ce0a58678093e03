/* Every command of `ingot`, with its table of options; commands[] in commands.c lists them. */
#ifndef INGOT_HOST_COMMANDS_H
#define INGOT_HOST_COMMANDS_H

#include <stdbool.h>

#include "host/args/command_line.h"

/* The exit status after success or failure. */
static inline int exit_status(bool good)
{
    return !good;
}

extern const struct command cmd_run;
extern const struct command cmd_chat;
extern const struct command cmd_serial;
extern const struct command cmd_pack;
extern const struct command cmd_adapter;
extern const struct command cmd_grammar;
extern const struct command cmd_log;
extern const struct command cmd_batch;
extern const struct command cmd_serve;
extern const struct command cmd_send;
extern const struct command cmd_voice;
extern const struct command cmd_info;
extern const struct command cmd_verify;
extern const struct command cmd_sign;
extern const struct command cmd_lock;
extern const struct command cmd_synth;
extern const struct command cmd_plan;
extern const struct command cmd_card;
extern const struct command cmd_bench;
extern const struct command cmd_selftest;
extern const struct command cmd_tokenize;
extern const struct command cmd_perplexity;
extern const struct command cmd_logits;
extern const struct command cmd_help;

#endif
