/* The fields prompt and input: a text, a list of texts, the numbers of tokens, or a list of such
 * lists. */
#include <string.h>

#include "runtime/api/api_reader.h"

/* Read the numbers of a list; only the model knows which are valid. */
static bool add_tokens(struct api_reader *r, const struct api_json *list, const char *field)
{
    struct api_turn *t = api_add_turn(r);
    const struct api_json *one;

    if (t == NULL) {
        return false;
    }
    api_json_each(one, list)
    {
        uint32_t id;

        if (!api_json_is(one, JSON_NUMBER) || api_json_number(one) < 0 ||
            api_json_number(one) > 4294967294.0 ||
            api_json_number(one) != (double)(uint32_t)api_json_number(one)) {
            return api_refuse(r->e, 400, field, NULL,
                              "%s: a list of tokens has whole numbers from 0 on, and nothing else",
                              field);
        }
        id = (uint32_t)api_json_number(one);
        if (!api_text_put(&t->tokens, (const char *)&id, sizeof id)) {
            return api_no_memory(r);
        }
    }
    return t->tokens.n != 0 || api_refuse(r->e, 400, field, NULL, "%s: a list is empty", field);
}

static bool add_one(struct api_reader *r, const struct api_json *v, const char *field)
{
    struct api_turn *t;

    if (api_json_is(v, JSON_LIST)) {
        return add_tokens(r, v, field);
    }
    if (!api_json_is(v, JSON_TEXT) || v->text[0] == '\0') {
        return api_refuse(r->e, 400, field, NULL,
                          "%s has to be a text, a list of texts, the numbers of tokens, or a list "
                          "of those, none of them empty",
                          field);
    }
    t = api_add_turn(r);
    if (t == NULL) {
        return false;
    }
    return api_text_put(&t->user, v->text, strlen(v->text)) || api_no_memory(r);
}

static bool read_all(struct api_reader *r, const struct api_json *v, const char *field,
                     unsigned most)
{
    const struct api_json *one;

    if (r->q->n_turns != 0) {
        return api_refuse(r->e, 400, field, NULL, "%s is given twice", field);
    }
    if (!api_json_is(v, JSON_LIST) || v->child == NULL || api_json_is(v->child, JSON_NUMBER)) {
        return add_one(r, v, field);
    }
    if (v->n > most) {
        return api_refuse(r->e, 400, field, NULL, "%s has %u entries: %u are allowed", field,
                          (unsigned)v->n, most);
    }
    api_json_each(one, v)
    {
        if (!add_one(r, one, field)) {
            return false;
        }
    }
    return true;
}

bool api_read_prompt(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    return read_all(r, v, f->name, API_REPLIES_MOST);
}

bool api_read_input(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    return read_all(r, v, f->name, API_INPUTS_MOST);
}
