/* The plan of a model on a board that is known from its table alone. */
#ifndef INGOT_HOST_BOARD_PLAN_H
#define INGOT_HOST_BOARD_PLAN_H

#include "host/plan/board_table.h"
#include "runtime/stream/plan.h"

enum { BOARD_RESERVED_MIB = 64 }; /* firmware, the program, its stacks */

struct board_request {
    const struct image *image;
    const struct board_facts *board; /* NULL: memory alone, without rates */
    uint64_t ram;                    /* bytes, all of the board's; 0: no limit */
    struct plan_limits limits;       /* context 0: the planner's default, shortened to fit */
    const struct plan_use *use;      /* of its experts; NULL: not known */
    uint64_t memory_rate, card_rate; /* bytes a second; 0: the board's */
};

/* The plan, with a decode time where the rates are known: a roofline, since each byte of weights is
 * counted at the bus's peak and nothing else. Errors: those of plan_make; plan->error_message says why. */
enum err board_plan(struct plan *plan, const struct board_request *r);

/* Bytes of memory that the plan takes beside firmware and program. */
uint64_t board_plan_memory(const struct plan *plan, const struct image *img);

/* ", and the head", ", and 41 % of the head", or "": none of it stays. */
enum { BOARD_PLAN_HEAD_BYTES = 32 };
const char *board_plan_head(const struct plan *plan, const struct image *img,
                            char text[BOARD_PLAN_HEAD_BYTES]);

/* Bytes read from the card for a token; 0: resident. */
uint64_t board_plan_read(const struct plan *plan, const struct image *img);

/* Places of a rate of tokens that are worth printing: 1 from ten a second, 2 from one, else 3. */
unsigned board_rate_decimals(uint64_t decode_ns);

#endif
