#include "runtime/api/api_tokens.h"

#include <string.h>

#include "runtime/api/api_scores.h"
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

/* Makes the parts of a prompt and returns their number. `parts` has room for CHAT_TURN_PARTS + 1
 * parts per turn. */
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
            parts[n++] = chat_turn_reply(chat, q->turns[i].reply.bytes, q->turns[i].reply.n);
        }
    }
    return n;
}

/* Refuses a request. `what` names the prompt or the input; n is its number of tokens, or 0 if not
 * known. The reply needs at least one token. Clients recognize this error by its text: those of
 * Anthropic's API by "prompt is too long", LiteLLM by "exceeds the available context size". */
static bool refuse_long(struct api_error *e, const char *what, size_t n, uint32_t context)
{
    unsigned room = (unsigned)context - 1;

    if (n == 0) {
        return api_refuse(e, 400, NULL, "context_length_exceeded",
                          "the %s is too long: it exceeds the available context size of %u, of "
                          "which it may fill %u",
                          what, (unsigned)context, room);
    }
    return api_refuse(e, 400, NULL, "context_length_exceeded",
                      "the %s is too long: it has %zu tokens and exceeds the available context "
                      "size of %u, of which it may fill %u",
                      what, n, (unsigned)context, room);
}

static bool refuse_memory(struct api_error *e, const char *what)
{
    return api_refuse(e, 413, NULL, "context_length_exceeded",
                      "there is too little memory for the %s: shorten it", what);
}

static bool encode_parts(const struct api_encoder *x, const struct tokenizer_part *parts,
                         size_t n_parts, const char *what, uint32_t *ids, size_t *n,
                         struct api_error *e)
{
    const struct tokenizer *t = &x->model->tokenizer;
    size_t bytes = 0;
    void *scratch;
    enum err error;

    for (size_t i = 0; i < n_parts; i++) {
        bytes += parts[i].bytes;
    }
    bytes = tokenizer_scratch_bytes(tokenizer_most_bytes(t, bytes));
    scratch = x->take(x->owner, bytes);
    if (scratch == NULL) {
        return refuse_memory(e, what);
    }
    error = tokenizer_encode_parts(t, parts, n_parts, TOKENIZER_BOS, ids, x->context, n, scratch,
                                   bytes);
    if (error == ERR_TOO_LONG) {
        /* if counting also fails, *n is 0 */
        (void)tokenizer_count_parts(t, parts, n_parts, TOKENIZER_BOS, n, scratch, bytes);
    }
    x->leave(x->owner, scratch);
    if (error == ERR_TOO_LONG || (error == ERR_OK && *n >= x->context)) {
        return refuse_long(e, what, *n, x->context);
    }
    if (error != ERR_OK || *n == 0) {
        return api_refuse(e, 400, NULL, NULL, "the %s has no tokens: %s", what, err_text(error));
    }
    return true;
}

/* Copies numbers of tokens unchanged. */
static bool take_tokens(const struct api_encoder *x, const struct api_text *tokens,
                        const char *field, uint32_t *ids, size_t *n, struct api_error *e)
{
    uint32_t vocab = x->model->image.header->params.vocab;

    *n = tokens->n / sizeof *ids;
    if (*n >= x->context) {
        return refuse_long(e, field, *n, x->context);
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

bool api_tokens_encode(const struct api_encoder *x, const struct api_request *q, uint32_t *ids,
                       size_t *n, struct api_error *e)
{
    const struct ingot_chat *chat = x->model->image.chat;
    struct tokenizer_part *parts;

    if (q->kind == API_CHAT && !chat_has_template(chat)) {
        return api_refuse(e, 400, NULL, "no_template",
                          "the model has no chat template: use /v1/completions");
    }
    if (q->kind == API_CONTINUE && q->turns[q->prompt].tokens.n != 0) {
        return take_tokens(x, &q->turns[q->prompt].tokens, "prompt", ids, n, e);
    }
    parts = api_memory_take(q->memory, q->n_turns * (CHAT_TURN_PARTS + 1) * sizeof *parts);
    if (parts == NULL) {
        return refuse_memory(e, "prompt");
    }
    return encode_parts(x, parts, parts_of(chat, q, parts), "prompt", ids, n, e);
}

bool api_tokens_encode_text(const struct api_encoder *x, const struct api_turn *input,
                            uint32_t *ids, size_t *n, struct api_error *e)
{
    const struct tokenizer_part part = { input->user.bytes, input->user.n, false };

    if (input->tokens.n != 0) {
        return take_tokens(x, &input->tokens, "input", ids, n, e);
    }
    return encode_parts(x, &part, 1, "input", ids, n, e);
}

/* ---- a reply --------------------------------------------------------------------------------- */

struct generate_params api_tokens_params(const struct api_request *q, const struct ingot_chat *chat)
{
    struct generate_params p = { .limit = q->n,
                                 .wants_scores = q->wants_scores,
                                 .n_likeliest = q->n_likeliest,
                                 .stops.n = q->n_stops,
                                 .end_ids = chat->stops,
                                 .n_end_ids = chat->n_stops };

    for (uint32_t i = 0; i < q->n_stops; i++) {
        p.stops.text[i] = q->stops[i];
    }
    p.inside_thoughts = q->kind == API_CHAT && !q->no_thinking && chat_turn_opens_thoughts(chat);
    return p;
}

static struct api_score score_in(const struct session *s, const struct token_score *t)
{
    uint32_t previous = s->n_ids != 0 ? s->ids[s->n_ids - 1] : INGOT_NO_TOKEN;
    struct api_score score = { .id = t->id, .logprob = t->log_share, .exact = true };

    score.text = tokenizer_piece(&s->model->tokenizer, t->id, previous, &score.bytes);
    return score;
}

bool api_tokens_add_scores(struct api_text *scores, const struct session *s,
                           const struct token_scores *t)
{
    struct api_score taken = score_in(s, &t->taken), likeliest[TOKEN_SCORES_MOST];

    for (uint32_t i = 0; i < t->n; i++) {
        likeliest[i] = score_in(s, &t->likeliest[i]);
    }
    return api_scores_add(scores, &taken, likeliest, t->n);
}
