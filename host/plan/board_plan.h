/* The plan of a model on a board of which only the table is known. */
#ifndef INGOT_HOST_BOARD_PLAN_H
#define INGOT_HOST_BOARD_PLAN_H

#include "host/plan/board_table.h"
#include "runtime/stream/plan.h"

enum { BOARD_RESERVED_MIB = 64 }; /* memory of firmware, program and its stacks */

struct board_request {
    const struct image *image;
    const struct board_facts *board; /* NULL: only memory, without rates */
    uint64_t ram;                    /* bytes; all of the board's; 0: no limit */
    struct plan_limits limits;       /* context 0: the planner's default, shortened to fit */
    const struct plan_use *use;      /* uses of its experts; NULL: unknown */
    uint64_t memory_rate, card_rate; /* bytes a second; 0: the board's */
};

/* The plan, with a decode time if the rates are known: a roofline, because each byte of weights is counted
 * at the bus's peak and nothing else. Errors: those of plan_make; plan->error_message says why. */
enum err board_plan(struct plan *plan, const struct board_request *r);

/* Bytes of memory that the plan takes in addition to firmware and program. */
uint64_t board_plan_memory(const struct plan *plan, const struct image *img);

/* ", and the head", ", and 41 % of the head", or "": none of it is resident. */
enum { BOARD_PLAN_HEAD_BYTES = 32 };
const char *board_plan_head(const struct plan *plan, const struct image *img,
                            char text[BOARD_PLAN_HEAD_BYTES]);

/* Bytes read from the card per token; 0: resident. */
uint64_t board_plan_read(const struct plan *plan, const struct image *img);

/* Decimals of a token rate that are worth printing: 1 from ten per second, 2 from one, else 3. */
unsigned board_rate_decimals(uint64_t decode_ns);

#endif
