/* Plans a model on a board, using only the board's row in the table. */
#ifndef INGOT_HOST_BOARD_PLAN_H
#define INGOT_HOST_BOARD_PLAN_H

#include "host/plan/board_table.h"
#include "runtime/stream/plan.h"

enum { BOARD_RESERVED_MIB = 64 }; /* memory for the firmware, the program and its stacks */

struct board_request {
    const struct image *image;
    const struct board_facts *board; /* NULL: only memory is planned, without rates */
    uint64_t ram;                    /* bytes of RAM on the board; 0: no limit */
    struct plan_limits limits;       /* context 0: the planner's default, shortened to fit */
    const struct plan_use *use;      /* how often the image's experts are used; NULL: unknown */
    uint64_t memory_rate, card_rate; /* bytes a second; 0: the board's rate */
};

/* Make the plan, with a decode time if the rates are known. The time is a lower bound: it counts
 * only the bytes of weights, at the bus's peak rate. Errors: those of plan_make;
 * plan->error_message says why. */
enum err board_plan(struct plan *plan, const struct board_request *r);

/* Return the bytes of memory that the plan takes in addition to firmware and program. */
uint64_t board_plan_memory(const struct plan *plan, const struct image *img);

/* Write ", and the head", ", and 41 % of the head", or "" if no part of the head is resident. */
enum { BOARD_PLAN_HEAD_BYTES = 32 };
const char *board_plan_head(const struct plan *plan, const struct image *img,
                            char text[BOARD_PLAN_HEAD_BYTES]);

/* Return the bytes read from the card per token; 0 if all weights are resident. */
uint64_t board_plan_read(const struct plan *plan, const struct image *img);

/* How many decimals of a token rate to print: 1 from 10 tok/s, 2 from 1 tok/s, else 3. */
unsigned board_rate_decimals(uint64_t decode_ns);

#endif
