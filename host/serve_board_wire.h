/* What `ingot serve` and a board say to each other (docs/SERIAL.md, protocol 2): requests as lines, lines as events. */
#ifndef INGOT_HOST_SERVE_BOARD_WIRE_H
#define INGOT_HOST_SERVE_BOARD_WIRE_H

#include "host/serve_request.h"

enum board_event_kind {
    BOARD_OTHER, /* an event that does not matter here */
    BOARD_READY,
    BOARD_TOKEN,
    BOARD_ERROR,
    BOARD_USAGE,
    BOARD_DONE,
};

struct cJSON;

/* Texts are the event's until board_event_free; NULL: absent. */
struct board_event {
    struct cJSON *root;
    enum board_event_kind kind;
    uint64_t id; /* of the request that it answers; 0: none */
    const char *text, *name, *model, *reason;
    uint32_t prompt_tokens, cached_tokens, completion_tokens; /* of BOARD_USAGE */
    uint32_t passes;                                          /* of BOARD_DONE */
    uint32_t line_limit;                                      /* of BOARD_READY; 0: unknown */
};

/* False: the line is no event, and there is nothing to free. */
bool board_event_read(struct board_event *e, const char *line, size_t bytes);
void board_event_free(struct board_event *e);

/* Lines for a request, added to out: every setting, whatever was asked before. The answer to the last has the id, errors of
 * those before it id - 1; id is 2 at least. longest: bytes of the longest line. Where memory lacks, out->failed. */
void board_request_write(struct serve_text *out, const struct serve_request *q, uint64_t id,
                         size_t *longest);

/* Why an event of BOARD_ERROR ends a request. */
void board_error_read(struct serve_error *e, const struct board_event *event);

#endif
