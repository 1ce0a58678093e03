/* The fields prompt and input: a text, texts, the numbers of tokens, or lists of those. */
#include <stdlib.h>
#include <string.h>

#include "host/api/serve_request_private.h"

/* Reads the numbers of a list; only the model knows which are valid. */
static bool add_tokens(struct serve_reader *r, const cJSON *list, const char *field)
{
    struct serve_turn *t = serve_add_turn(r);
    const cJSON *one;

    if (t == NULL) {
        return false;
    }
    cJSON_ArrayForEach(one, list)
    {
        uint32_t id;

        if (!cJSON_IsNumber(one) || one->valuedouble < 0 || one->valuedouble > 4294967294.0 ||
            one->valuedouble != (double)(uint32_t)one->valuedouble) {
            return serve_refuse(r->e, 400, field, NULL,
                                "%s: a list of tokens has whole numbers from 0 on, and nothing "
                                "else",
                                field);
        }
        id = (uint32_t)one->valuedouble;
        if (!serve_text_add(&t->tokens, (const char *)&id, sizeof id)) {
            return serve_no_memory(r);
        }
    }
    return t->tokens.n != 0 ||
           serve_refuse(r->e, 400, field, NULL, "%s: a list of tokens is empty", field);
}

static bool add_one(struct serve_reader *r, const cJSON *v, const char *field)
{
    struct serve_turn *t;

    if (cJSON_IsArray(v)) {
        return add_tokens(r, v, field);
    }
    if (!cJSON_IsString(v) || v->valuestring[0] == '\0') {
        return serve_refuse(
            r->e, 400, field, NULL,
            "%s has to be a text, a list of texts, the numbers of tokens, or a list "
            "of those, none of them empty",
            field);
    }
    t = serve_add_turn(r);
    if (t == NULL) {
        return false;
    }
    return serve_text_add(&t->user, v->valuestring, strlen(v->valuestring)) || serve_no_memory(r);
}

static bool read_all(struct serve_reader *r, const cJSON *v, const char *field, unsigned most)
{
    const cJSON *one;

    if (r->q->n_turns != 0) {
        return serve_refuse(r->e, 400, field, NULL, "%s stands twice", field);
    }
    if (!cJSON_IsArray(v) || cJSON_IsNumber(v->child)) {
        return add_one(r, v, field);
    }
    if ((unsigned)cJSON_GetArraySize(v) > most) {
        return serve_refuse(r->e, 400, field, NULL, "%s has %d entries: %u are allowed", field,
                            cJSON_GetArraySize(v), most);
    }
    cJSON_ArrayForEach(one, v)
    {
        if (!add_one(r, one, field)) {
            return false;
        }
    }
    return true;
}

bool serve_read_prompt(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return read_all(r, v, f->name, SERVE_REPLIES_MOST);
}

bool serve_read_input(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    return read_all(r, v, f->name, SERVE_INPUTS_MOST);
}
