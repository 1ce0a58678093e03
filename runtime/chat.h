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
#include "runtime/speculative.h"

enum { CHAT_LINE_BYTES = 8192 };

struct chat {
    struct engine *engine;
    const struct options *options;
    struct sampler sampler;
    struct speculative speculative;
    const struct ingot_chat *template; /* and its strings */
    uint32_t think_end;   /* the token that ends thoughts, or INGOT_NO_TOKEN */
    uint32_t reply_start; /* of the last reply, in ids */
    uint32_t pending;     /* its last tokens that are not in the cache: they lie behind it in ids */
    bool started;         /* a turn is in the cache */
    char line[CHAT_LINE_BYTES];
};

/* engine is loaded, and so is draft, a model that guesses its tokens, or NULL; template: another
 * chat section than the image's, checked, or NULL. All must outlive the chat. Options that the
 * template cannot obey are warned of. */
void chat_open(struct chat *c, struct engine *engine, struct engine *draft,
               const struct options *options, const struct ingot_chat *template);

/* One reply to text: prints it as it comes, then the line of figures (and with the option
 * `ids` the token ids and the hash of the logits). as_turn: wrap it in the model's template; a
 * model without one, or as_turn false, continues the text as it stands from an empty context.
 * ERR_OK; ERR_ABORTED by Ctrl-C (the reply so far stays in the conversation); ERR_TOO_LONG and
 * the stream's errors are printed, and the conversation can go on. */
enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn);

/* Prompt, read, reply, until the input ends. */
void chat_loop(struct chat *c);

#endif
