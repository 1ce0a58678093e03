/* The conversation in JSON lines (mode=json): docs/SERIAL.md describes the protocol. The chat
 * includes this header; the server on a computer includes it to describe its model. */
#ifndef INGOT_RUNTIME_CHAT_JSON_H
#define INGOT_RUNTIME_CHAT_JSON_H

#include "runtime/chat/chat.h"
#include "runtime/session/generate.h"

/* Send the last event of an answer: why the answer ended, and its stats; r is NULL without a
 * reply. */
void chat_json_done(struct chat *c, const struct generate_result *r, const char *reason);

/* Send one event with a reply of the session and its figures. For this function and the next ones
 * the console speaks JSON. */
void chat_json_reply(struct console *c, const struct session *s, const struct generate_result *r,
                     const char *reason);

/* Send the map of memory and the streamed parts as the event `plan`. */
void chat_json_plan(struct console *c, const struct model *m);

/* Send the totals of the work so far, and the most memory used of each region, as the event
 * `stats`. s is NULL if there is no model. */
void chat_json_stats(struct console *c, const struct chat_totals *totals, const struct session *s);

/* Begin a token's event, with the scores of the token and of others; console_token_end() ends
 * it. */
void chat_json_scored_token(struct chat *c, const struct token_scores *scores);

/* Give the line back to a person after the running request, because the program, which had set a
 * limit of silence, is gone. */
void chat_json_leave(struct chat *c);

/* Like chat_loop(), with requests in place of lines. Returns false if the conversation continues
 * with a person (/mode chat). */
bool chat_json_loop(struct chat *c, const struct chat_commands *commands);

/* The conversation of requests that come over the network, not over the console's line. */
#define CHAT_GUEST_CONVERSATION ".network"

/* Run one request of a guest: prompt, messages, raw or ids, with the options of a reply; or
 * hello, models, stats, plan, tokenize; or only ENQ, which asks for `ready`. A guest cannot run
 * commands or change models and adapters. The request's events go to `console`, which speaks JSON.
 * The line is overwritten (bytes, followed by a NUL). Call this between two lines of chat_loop():
 * afterwards the options, the random numbers and the name of the current conversation are as
 * before. `conversation` is the conversation's name during the request; NULL: there is no room for
 * two conversations, and the current one is forgotten. */
void chat_json_guest(struct chat *c, struct console *console, const char *conversation, char *line,
                     size_t bytes);

#endif
