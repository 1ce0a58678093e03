/* Every command of `ingot`: argv[0] is the command's name. Each has --help and returns the exit
 * status: 0 fine, 1 the work failed, 2 usage. */
#ifndef INGOT_HOST_COMMANDS_H
#define INGOT_HOST_COMMANDS_H

#include <stdbool.h>

/* That of work that was done, or not. */
static inline int exit_status(bool good)
{
    return !good;
}

int cmd_run(int argc, char **argv);
int cmd_chat(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_tokenize(int argc, char **argv);
int cmd_perplexity(int argc, char **argv);
int cmd_logits(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_synth(int argc, char **argv);
int cmd_serial(int argc, char **argv);

#endif
