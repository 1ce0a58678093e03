#include "host/cli/commands.h"

const struct command *const commands[] = {
    &cmd_run,        &cmd_chat,    &cmd_batch,   &cmd_serve, &cmd_serial, &cmd_send,  &cmd_voice,
    &cmd_pack,       &cmd_adapter, &cmd_grammar, &cmd_info,  &cmd_log,    &cmd_plan,  &cmd_bench,
    &cmd_selftest,   &cmd_card,    &cmd_verify,  &cmd_sign,  &cmd_lock,   &cmd_synth, &cmd_tokenize,
    &cmd_perplexity, &cmd_logits,  &cmd_help,    NULL,
};
