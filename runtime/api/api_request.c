#include "runtime/api/api_request.h"

#include <string.h>

#include "runtime/api/api_reader.h"

/* Check the fields that depend on others. */
static bool check_fields(struct api_reader *r)
{
    const struct api_request *q = r->q;
    uint32_t n = q->n_choices != 0 ? q->n_choices : 1;

    if (q->n_likeliest != 0 && !q->wants_scores) {
        return api_refuse(r->e, 400, "top_logprobs", NULL, "top_logprobs needs logprobs");
    }
    if (r->best_of != NULL &&
        !(api_json_is(r->best_of, JSON_NUMBER) && api_json_number(r->best_of) == n)) {
        return api_refuse(
            r->e, 400, "best_of", "unsupported_parameter",
            "best_of has to equal n, which is %u: this server returns every reply that it makes",
            (unsigned)n);
    }
    if (q->echo && q->wants_scores) {
        return api_refuse(r->e, 400, "echo", "unsupported_parameter",
                          "echo cannot be combined with logprobs: a prompt has none here");
    }
    for (uint32_t i = 0; i < q->n_turns && q->echo; i++) {
        if (q->turns[i].tokens.n != 0) {
            return api_refuse(r->e, 400, "echo", "unsupported_parameter",
                              "echo needs prompts that are texts, not token numbers");
        }
    }
    return true;
}

static bool read_fields(struct api_reader *r, const struct api_json *root)
{
    const struct api_json *member;

    if (!api_json_is(root, JSON_OBJECT)) {
        return api_refuse(r->e, 400, NULL, NULL, "the body is not a JSON object");
    }
    api_json_each(member, root)
    {
        if (!api_field_read(r, member)) {
            return false;
        }
    }
    if (r->q->n_turns == 0) {
        static const char *const names[API_N_KINDS] = { "messages", "prompt", "input" };
        const char *name = names[r->q->kind];

        return api_refuse(r->e, 400, name, NULL, "the field %s is missing", name);
    }
    return check_fields(r);
}

static bool read_whole(struct api_reader *r, const struct api_json *root)
{
    struct api_request *q = r->q;
    const char *system = r->d->system;

    if (!read_fields(r, root)) {
        return false;
    }
    if (q->kind == API_CHAT && !q->has_system && system != NULL) {
        q->has_system = true;
        if (!api_text_put(&q->system, system, strlen(system))) {
            return api_no_memory(r);
        }
    }
    return q->kind == API_EMBED || api_tools_use(r);
}

bool api_request_read(struct api_request *q, enum api_kind kind, char *body, size_t bytes,
                      const struct api_defaults *d, struct api_error *e)
{
    struct api_reader r = { .q = q, .d = d, .e = e };
    struct api_json *root;

    q->kind = kind;
    q->sampler = d->sampler;
    q->chosen = d->chosen;
    q->seeded = d->seeded;
    q->n = d->n;
    q->no_thinking = d->no_thinking;
    api_memory_text(q->memory, &q->system);
    api_memory_text(q->memory, &q->biases);
    api_memory_text(q->memory, &q->warnings);
    return api_body_parse(&root, body, bytes, q->memory, e) && read_whole(&r, root);
}
