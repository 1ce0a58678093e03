/* A conversation: a line in, the model's template around it, the reply streamed out. */
#ifndef INGOT_RUNTIME_CHAT_H
#define INGOT_RUNTIME_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/engine.h"
#include "runtime/options.h"
#include "runtime/sampler.h"

enum { CHAT_LINE_BYTES = 8192 };

struct chat {
    struct engine *engine;
    const struct options *options;
    struct sampler sampler;
    uint32_t end_token; /* of a turn or text; INGOT_NO_TOKEN: none */
    bool started;       /* a turn is in the cache */
    bool pending;       /* the last token of the reply is not yet: it lies behind it in ids */
    char line[CHAT_LINE_BYTES];
};

/* engine is loaded; all must outlive the chat. */
void chat_open(struct chat *c, struct engine *engine, const struct options *options);

/* One reply to text: prints it as it comes, then the line of figures (and with the option
 * `ids` the token ids and the hash of the logits). as_turn: wrap it in the model's template; a
 * model without one, or as_turn false, continues the text as it stands from an empty context.
 * ERR_OK; ERR_ABORTED by Ctrl-C (the reply so far stays in the conversation); ERR_TOO_LONG and
 * the stream's errors are printed, and the conversation can go on. */
enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn);

/* Prompt, read, reply, until the input ends. */
void chat_loop(struct chat *c);

#endif
