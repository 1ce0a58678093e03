/* The conversation in JSON lines (mode=json): docs/SERIAL.md is the protocol. The chat includes
 * this header, and so does a server on a computer, for what it says about its model. */
#ifndef INGOT_RUNTIME_CHAT_JSON_H
#define INGOT_RUNTIME_CHAT_JSON_H

#include "runtime/chat/chat.h"
#include "runtime/session/generate.h"

/* The last event of an answer: why it ended, and its stats; r is NULL without a reply. */
void chat_json_done(struct chat *c, const struct generate_result *r, const char *reason);

/* One event of a reply in the session, with its figures. For this function and those below, the
 * console speaks JSON. */
void chat_json_reply(struct console *c, const struct session *s, const struct generate_result *r,
                     const char *reason);

/* The map of memory and the streamed parts, as `plan`. */
void chat_json_plan(struct console *c, const struct model *m);

/* The work since the start, and the memory that it took, as `stats`. s NULL: there is no model. */
void chat_json_stats(struct console *c, const struct chat_totals *totals, const struct session *s);

/* Begin a token's event, with the scores of the token and of others; console_token_end() ends
 * it. */
void chat_json_scored_token(struct chat *c, const struct token_scores *scores);

/* After the running request, a person has the line again: the program that asked for the mode
 * with a limit of silence is gone. */
void chat_json_leave(struct chat *c);

/* As chat_loop(), with requests in place of lines. False: the conversation continues with a
 * person (/mode chat). */
bool chat_json_loop(struct chat *c, const struct chat_commands *commands);

/* The conversation of requests that come over the network and not over the console's line. */
#define CHAT_GUEST_CONVERSATION ".network"

/* Run one request of a guest, without commands, models and adapters: prompt, messages, raw or
 * ids, with the options of a reply; or hello, models, stats, plan, tokenize, or only ENQ, which
 * asks for `ready`. Its events go to `console`, which speaks JSON. The line is overwritten
 * (bytes, followed by a NUL). Call it between two lines of chat_loop(): afterwards the options,
 * the random numbers and the name of the current conversation, which is `conversation`
 * meanwhile, are as before. conversation NULL: there is no room for two, and the current
 * conversation is forgotten. */
void chat_json_guest(struct chat *c, struct console *console, const char *conversation, char *line,
                     size_t bytes);

#endif
