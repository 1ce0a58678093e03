/* Messages between `ingot serve` and a board (docs/SERIAL.md, protocol 2): writes requests as
 * lines, and takes from events what `ingot serve` needs (host/line/board_event.h). */
#ifndef INGOT_HOST_SERVE_BOARD_WIRE_H
#define INGOT_HOST_SERVE_BOARD_WIRE_H

#include "flash_image/format/format.h"
#include "host/api/serve_backend.h"
#include "host/line/board_event.h"

/* Append a request's line to out, or one line for each text to embed. Every line has the id and,
 * because the board may have other settings, all settings. *longest: length of the longest line.
 * Out of memory: out->failed. */
void board_request_write(struct api_text *out, const struct api_request *q, uint64_t id,
                         size_t *longest);

/* Read the model's sampling defaults from an event `ready`; values out of bounds are ignored. */
void board_defaults_read(struct ingot_sampling *s, const struct board_event *event);

/* Use the model's defaults for the sampling parameters that the request does not give. */
void board_defaults_put(struct api_request *q, const struct ingot_sampling *s);

/* Return the name of a field in the request that only boards with penalties and biases support;
 * NULL: there is none. */
const char *board_penalty_of(const struct api_request *q);

/* Write a line that makes the board load a model. */
void board_load_write(struct api_text *out, uint64_t id, const char *model);

/* Write the lines that set a request's grammar, or no grammar, on the board; return their number.
 * If the board was not started with grammar=on, it reports that. */
uint32_t board_grammar_write(struct api_text *out, const struct api_request *q, uint64_t id);

/* Write lines that ask for the board's plan and, after a restart, for its memory and its models. */
void board_news_write(struct api_text *out, uint64_t id, bool anew);

/* Append the model in an event of BOARD_MODEL to a JSON list of objects with name and bytes; "" is
 * an empty list. Entries that do not fit are dropped. */
void board_model_add(char list[SERVE_EVENT_BYTES], const struct board_event *e);

/* Write an event as JSON on one line; "" if that is too long. */
void board_event_text(char text[SERVE_EVENT_BYTES], const struct board_event *e);

/* Append the numbers of an event of BOARD_EMBEDDING, as f32, to out. Returns false if the event has
 * none, or too few or too many. */
bool board_vector_read(struct api_text *out, const struct board_event *event);

/* If an event of BOARD_TOKEN has the token's score, append the score to out. */
void board_scores_read(struct api_text *out, const struct board_event *event);

/* Read why an event of BOARD_ERROR ends a request. */
void board_error_read(struct api_error *e, const struct board_event *event);

#endif
