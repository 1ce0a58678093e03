/* `ingot plan --board`: a model on a board that is not present. */
#ifndef INGOT_HOST_PLAN_BOARD_H
#define INGOT_HOST_PLAN_BOARD_H

#include "host/args/host_args.h"

/* Print the plan of args->model on the board args->board, with the RAM of args->ram (0: the usual
 * size). Returns the exit status, which is EXIT_USAGE after an error about an unknown board or
 * size, or about options that do not fit together. */
int plan_board_print(const struct command *c, const struct host_args *args);

#endif
