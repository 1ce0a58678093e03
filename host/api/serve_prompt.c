#include "host/api/serve_prompt.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/chat/chat_turn.h"

static struct chat_turn turn_of(const struct ingot_chat *chat, const struct api_request *q,
                                uint32_t i)
{
    const struct api_turn *t = &q->turns[i];
    struct chat_turn turn = {
        .text = api_text_shown(&t->user),
        .bytes = t->user.n,
        .first = i == 0,
        .instructed = t->instructed,
        .unspoken = !t->spoken && q->kind == API_CHAT,
        .no_thinking = q->no_thinking,
        .past = t->replied && (chat->flags & INGOT_CHAT_KEEPS_THOUGHTS) == 0,
    };

    if (t->instructed) {
        turn.system = api_text_shown(&t->system);
        turn.system_bytes = t->system.n;
    } else if (q->has_system) {
        turn.system = api_text_shown(&q->system);
        turn.system_bytes = q->system.n;
    }
    return turn;
}

/* Makes the parts of a prompt, and returns their number; needs room for CHAT_TURN_PARTS + 1 parts
 * per turn. */
static size_t parts_of(const struct ingot_chat *chat, const struct api_request *q,
                       struct tokenizer_part *parts)
{
    size_t n = 0;

    if (q->kind == API_CONTINUE) {
        const struct api_text *text = &q->turns[q->prompt].user;

        parts[0] = (struct tokenizer_part){ text->bytes, text->n, false };
        return 1;
    }
    for (uint32_t i = 0; i < q->n_turns; i++) {
        struct chat_turn turn = turn_of(chat, q, i);
        struct tokenizer_part own[CHAT_TURN_PARTS];
        size_t n_own = chat_turn_parts(chat, &turn, own);

        memcpy(parts + n, own, n_own * sizeof *own);
        n += n_own;
        if (q->turns[i].replied) {
            parts[n++] = (struct tokenizer_part){ q->turns[i].reply.bytes, q->turns[i].reply.n,
                                                  false };
        }
    }
    return n;
}

/* Refuses a request. what: the prompt or the input; n: its number of tokens, 0: not known. The
 * reply needs at least one token. */
static bool refuse_long(struct api_error *e, const char *what, size_t n, uint32_t context)
{
    unsigned room = (unsigned)context - 1;

    if (n == 0) {
        return api_refuse(e, 400, NULL, "context_length_exceeded",
                          "the %s has more tokens than the %u that fit into the context of %u: "
                          "shorten it",
                          what, room, (unsigned)context);
    }
    return api_refuse(e, 400, NULL, "context_length_exceeded",
                      "the %s has %zu tokens, but only %u fit into the context of %u: shorten "
                      "it",
                      what, n, room, (unsigned)context);
}

static bool encode_parts(const struct model *m, const struct tokenizer_part *parts, size_t n_parts,
                         const char *what, uint32_t context, uint32_t *ids, size_t *n,
                         struct api_error *e)
{
    size_t bytes = 0;
    void *scratch;
    enum err error;

    for (size_t i = 0; i < n_parts; i++) {
        bytes += parts[i].bytes;
    }
    bytes = tokenizer_scratch_bytes(tokenizer_most_bytes(&m->tokenizer, bytes));
    scratch = malloc(bytes);
    if (scratch == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    error = tokenizer_encode_parts(&m->tokenizer, parts, n_parts, TOKENIZER_BOS, ids, context, n,
                                   scratch, bytes);
    if (error == ERR_TOO_LONG) {
        /* on a failure *n is 0 too */
        (void)tokenizer_count_parts(&m->tokenizer, parts, n_parts, TOKENIZER_BOS, n, scratch,
                                    bytes);
    }
    free(scratch);
    if (error == ERR_TOO_LONG || (error == ERR_OK && *n >= context)) {
        return refuse_long(e, what, *n, context);
    }
    if (error != ERR_OK || *n == 0) {
        return api_refuse(e, 400, NULL, NULL, "the %s has no tokens: %s", what, err_text(error));
    }
    return true;
}

/* Copies numbers of tokens unchanged. */
static bool take_tokens(const struct model *m, const struct api_text *tokens, const char *field,
                        uint32_t context, uint32_t *ids, size_t *n, struct api_error *e)
{
    uint32_t vocab = m->image.header->params.vocab;

    *n = tokens->n / sizeof *ids;
    if (*n >= context) {
        return refuse_long(e, field, *n, context);
    }
    memcpy(ids, tokens->bytes, tokens->n);
    for (size_t i = 0; i < *n; i++) {
        if (ids[i] >= vocab) {
            return api_refuse(e, 400, field, NULL,
                              "%s: there is no token %u: the model has %u tokens, counted from 0",
                              field, (unsigned)ids[i], (unsigned)vocab);
        }
    }
    return true;
}

bool serve_prompt_encode(const struct model *m, const struct api_request *q, uint32_t context,
                         uint32_t *ids, size_t *n, struct api_error *e)
{
    const struct ingot_chat *chat = m->image.chat;
    struct tokenizer_part *parts;
    bool good;

    if (q->kind == API_CHAT && !chat_has_template(chat)) {
        return api_refuse(e, 400, NULL, "no_template",
                          "the model has no chat template: use /v1/completions");
    }
    if (q->kind == API_CONTINUE && q->turns[q->prompt].tokens.n != 0) {
        return take_tokens(m, &q->turns[q->prompt].tokens, "prompt", context, ids, n, e);
    }
    parts = malloc(q->n_turns * (CHAT_TURN_PARTS + 1) * sizeof *parts);
    if (parts == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    good = encode_parts(m, parts, parts_of(chat, q, parts), "prompt", context, ids, n, e);
    free(parts);
    return good;
}

bool serve_prompt_encode_text(const struct model *m, const struct api_turn *input, uint32_t context,
                              uint32_t *ids, size_t *n, struct api_error *e)
{
    const struct tokenizer_part part = { input->user.bytes, input->user.n, false };

    if (input->tokens.n != 0) {
        return take_tokens(m, &input->tokens, "input", context, ids, n, e);
    }
    return encode_parts(m, &part, 1, "input", context, ids, n, e);
}

bool serve_prompt_biases(const struct session *s, const struct api_request *q,
                         struct json_biases *biases, struct sampler_params *sampler,
                         struct api_error *e)
{
    const char *error_message;
    char *copy;

    if (q->biases.n == 0) {
        return true;
    }
    copy = strdup(q->biases.bytes); /* reading overwrites it */
    if (copy == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    error_message = json_biases_read(biases, copy, q->biases.n, s);
    sampler->biases = biases->list;
    sampler->n_biases = biases->n;
    if (error_message != NULL) {
        (void)api_refuse(e, 400, "logit_bias", NULL, "%s", error_message);
    }
    free(copy);
    return error_message == NULL;
}
