/* An event of a board, read from a line that it sent (docs/SERIAL.md). */
#ifndef INGOT_HOST_BOARD_EVENT_H
#define INGOT_HOST_BOARD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_json.h"

enum board_event_kind {
    BOARD_OTHER, /* an event that is ignored here */
    BOARD_READY,
    BOARD_TOKEN,
    BOARD_ERROR,
    BOARD_USAGE,
    BOARD_EMBEDDING,
    BOARD_PLAN,
    BOARD_STATS,
    BOARD_MODEL,
    BOARD_HELLO,
    BOARD_DONE,
};

/* Texts live until board_event_free; NULL: absent. */
struct board_event {
    const struct api_json *root;
    void *memory; /* of root */
    enum board_event_kind kind;
    uint64_t id; /* id of the request to which the event belongs; 0: none */
    const char *text, *name, *model, *board, *reason;
    uint32_t prompt_tokens, cached_tokens, completion_tokens; /* of BOARD_USAGE */
    uint32_t passes;                                          /* of BOARD_DONE */
    uint32_t line_limit;                                      /* of BOARD_READY; 0: unknown */
    uint32_t tokens;                                          /* of BOARD_EMBEDDING */
    bool knows_penalties; /* in BOARD_HELLO: requests may have penalties and biases */
    bool knows_said;      /* in BOARD_HELLO: messages may be marked as a person's words
                       (docs/SERIAL.md) */
};

/* Read an event. Returns false if the line is not an event, and nothing has to be freed. */
bool board_event_read(struct board_event *e, const char *line, size_t bytes);
void board_event_free(struct board_event *e);

#endif
