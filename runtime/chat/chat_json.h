/* The conversation in JSON lines (mode=json): docs/SERIAL.md is the protocol. Beside the
 * chat itself a server on a computer includes it, for what it says of its model. */
#ifndef INGOT_RUNTIME_CHAT_JSON_H
#define INGOT_RUNTIME_CHAT_JSON_H

#include "runtime/chat/chat.h"
#include "runtime/session/generate.h"

/* The last event of an answer: why it ended, and its stats; r NULL: there was no reply. */
void chat_json_done(struct chat *c, const struct generate_result *r, const char *reason);

/* An event of a reply in the session, alone, with its figures. The console speaks JSON here and below. */
void chat_json_reply(struct console *c, const struct session *s, const struct generate_result *r,
                     const char *reason);

/* The map of memory, and the parts that stream, as `plan`. */
void chat_json_plan(struct console *c, const struct model *m);

/* The work since the start, and how much memory it took, as `stats`. s NULL: there is no model. */
void chat_json_stats(struct console *c, const struct chat_totals *totals, const struct session *s);

/* A token's event begins, with what the model gave it and others; console_token_end() ends it. */
void chat_json_scored_token(struct chat *c, const struct token_scores *scores);

/* After the running request a person is at the line again: the program that asked for the mode with a limit of silence is gone. */
void chat_json_leave(struct chat *c);

/* As chat_loop(), with requests for lines. False: the conversation goes on with a person (/mode chat). */
bool chat_json_loop(struct chat *c, const struct chat_commands *commands);

/* The conversation of requests that do not come over the console's line but over the network. */
#define CHAT_GUEST_CONVERSATION ".network"

/* One request of a guest, without commands, models and adapters: prompt, messages, raw or ids, with the options of a reply; or hello,
 * models, stats, plan, tokenize, or ENQ alone, which asks for `ready`. Its events go to
 * `console`, which speaks JSON. The line is overwritten (bytes, and a NUL behind them). Between two lines of chat_loop(): afterwards
 * the options, the random numbers and `conversation`, which is the name of the current one, are as before. conversation NULL:
 * there is no room for two, and the current one is forgotten. */
void chat_json_guest(struct chat *c, struct console *console, const char *conversation, char *line,
                     size_t bytes);

#endif
