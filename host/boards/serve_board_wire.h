/* The messages between `ingot serve` and a board (docs/SERIAL.md, protocol 2): requests as lines, lines as events. */
#ifndef INGOT_HOST_SERVE_BOARD_WIRE_H
#define INGOT_HOST_SERVE_BOARD_WIRE_H

#include "flash_image/format/format.h"
#include "host/serve/serve_backend.h"

enum board_event_kind {
    BOARD_OTHER, /* an event that does not matter here */
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

struct cJSON;

/* Texts are the event's until board_event_free; NULL: absent. */
struct board_event {
    struct cJSON *root;
    enum board_event_kind kind;
    uint64_t id; /* of the request that it answers; 0: none */
    const char *text, *name, *model, *board, *reason;
    uint32_t prompt_tokens, cached_tokens, completion_tokens; /* of BOARD_USAGE */
    uint32_t passes;                                          /* of BOARD_DONE */
    uint32_t line_limit;                                      /* of BOARD_READY; 0: unknown */
    uint32_t tokens;                                          /* of BOARD_EMBEDDING */
    bool knows_penalties; /* likewise: requests may have penalties and biases */
    bool knows_said;      /* of BOARD_HELLO: messages may be marked so (docs/SERIAL.md) */
};

/* False: the line is not an event, and there is nothing to free. */
bool board_event_read(struct board_event *e, const char *line, size_t bytes);
void board_event_free(struct board_event *e);

/* The line of a request, or a line for each text to embed, added to out: every setting, whatever was asked before. All have
 * the id. longest: bytes of the longest. If memory lacks,
 * out->failed. */
void board_request_write(struct serve_text *out, const struct serve_request *q, uint64_t id,
                         size_t *longest);

/* The defaults of its model that an event `ready` has; values out of their bounds are left out. */
void board_defaults_read(struct ingot_sampling *s, const struct board_event *event);

/* Parameters of the request's sampler that nobody has chosen become the model's own. */
void board_defaults_put(struct serve_request *q, const struct ingot_sampling *s);

/* The field of a request that a board needs to know penalties and biases for; NULL: none. */
const char *board_penalty_of(const struct serve_request *q);

/* A line that has the board load a model. */
void board_load_write(struct serve_text *out, uint64_t id, const char *model);

/* Lines before it, which have the board hold the reply to the request's grammar, or to none; how many. The board was started
 * with grammar=on, or says that it was not. */
uint32_t board_grammar_write(struct serve_text *out, const struct serve_request *q, uint64_t id);

/* Lines that ask what was done with its memory, and, where it has begun anew, what is where in it and which models there are. */
void board_news_write(struct serve_text *out, uint64_t id, bool anew);

/* An event of BOARD_MODEL goes to the end of a list of objects with name and bytes, JSON; "": the list is empty. One that has no
 * room is left out. */
void board_model_add(char list[SERVE_EVENT_BYTES], const struct board_event *e);

/* An event as JSON on one line; "": it is longer than that. */
void board_event_text(char text[SERVE_EVENT_BYTES], const struct board_event *e);

/* The numbers of an event of BOARD_EMBEDDING, f32, added to out. False: there are none, or others. */
bool board_vector_read(struct serve_text *out, const struct board_event *event);

/* The token's score in an event of BOARD_TOKEN, if it has one, added to out. */
void board_scores_read(struct serve_text *out, const struct board_event *event);

/* Why an event of BOARD_ERROR ends a request. */
void board_error_read(struct serve_error *e, const struct board_event *event);

#endif
