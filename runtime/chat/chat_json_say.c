/* Parts of events: an error, a token with its scores, a model's defaults. */
#include <assert.h>
#include <string.h>

#include "flash_image/format/format.h"
#include "runtime/chat/chat_json.h"
#include "runtime/chat/chat_json_private.h"
#include "runtime/chat/chat_private.h"
#include "runtime/console/console_json.h"
#include "runtime/text/format_float.h"

void chat_json_error(struct chat *c, const char *name, const char *field, size_t column,
                     const char *text)
{
    console_event_begin(c->console, "'error','name':'%s','column':%lu", name,
                        (unsigned long)column);
    if (field != NULL) {
        console_event_more(c->console, ",'field':'%s'", field);
    }
    console_event_more(c->console, ",'text':'");
    console_write(c->console, text, strlen(text));
    console_event_end(c->console);
}

void chat_say_too_long(struct chat *c, const char *field)
{
    const char *error_message = c->session->error_message;

    if (error_message[0] == '\0') {
        error_message = "the prompt does not fit the context: shorten it, or raise ctx=";
    }
    if (console_is_json(c->console)) {
        chat_json_error(c, "context", field, 0, error_message);
    } else {
        console_printf(c->console, "error: %s\n", error_message);
    }
}

void chat_json_scored_token(struct chat *c, const struct token_scores *scores)
{
    const struct session *s = c->session;
    const struct tokenizer *t = &s->model->tokenizer;
    uint32_t previous = s->n_ids != 0 ? s->ids[s->n_ids - 1] : INGOT_NO_TOKEN;
    char number[FORMAT_NUMBER_BYTES];

    console_token_open(c->console, scores->taken.id);
    console_event_more(c->console, ",'logprob':%s,'top_logprobs':[",
                       format_fixed(number, scores->taken.log_share));
    for (uint32_t i = 0; i < scores->n; i++) {
        const struct token_score *one = &scores->likeliest[i];
        size_t bytes;
        const char *text = tokenizer_piece(t, one->id, previous, &bytes);

        console_event_more(c->console, "%s{'token':%lu,'logprob':%s,'text':", i == 0 ? "" : ",",
                           (unsigned long)one->id, format_fixed(number, one->log_share));
        console_event_text(c->console, text, bytes);
        console_event_more(c->console, "}");
    }
    console_event_more(c->console, "],'text':'");
}

/* The fields lie in the order of their bits, four floats first. */
void chat_json_defaults(struct console *c, const struct ingot_sampling *s)
{
    enum { N_FLOATS = 4, N_FIELDS = 6 };
    static const char *const names[N_FIELDS] = { "temp",   "top_p", "min_p",
                                                 "repeat", "top_k", "repeat_last_n" };
    const char *before = ",'defaults':{";
    char number[FORMAT_NUMBER_BYTES];

    static_assert(INGOT_SAMPLES_REPEAT == 1 << (N_FLOATS - 1) &&
                      INGOT_SAMPLES_REPEAT_LAST == 1 << (N_FIELDS - 1) &&
                      offsetof(struct ingot_sampling, repeat_last) == N_FIELDS * sizeof(uint32_t),
                  "bits in the order of the fields");
    for (unsigned i = 0; i < N_FIELDS; i++) {
        uint32_t bits;
        float value;

        if ((s->given >> i & 1) == 0) {
            continue;
        }
        memcpy(&bits, (const char *)s + (i + 1) * sizeof bits, sizeof bits);
        memcpy(&value, &bits, sizeof value);
        console_event_more(c, "%s'%s':%s", before, names[i],
                           format_float(number, i < N_FLOATS ? value : (float)bits));
        before = ",";
    }
    if (s->given != 0) {
        console_event_more(c, "}");
    }
}
