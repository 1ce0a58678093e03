/* The fields of requests in mode=json that features know. */
#include "runtime/chat/chat_json_private.h"

#include "runtime/features/feature.h"

/* Return a feature's description of a field, or NULL if the request lacks the field or no feature
 * knows it. */
static const struct feature_field *field_of(const struct chat *c, const struct json_request *r,
                                            enum json_field field, void **state)
{
    return r->values[field] == NULL ? NULL
                                    : features_field(c->features, json_field_name(field), state);
}

/* Undo the settings of the first n fields. */
static void put_back(struct chat *c, const struct json_request *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        void *state;
        const struct feature_field *f = field_of(c, r, (enum json_field)i, &state);

        if (f != NULL && f->put_back != NULL) {
            f->put_back(state, c);
        }
    }
}

bool chat_json_set_fields(struct chat *c, const struct json_request *r)
{
    const char *error_message = NULL;

    for (unsigned i = 0; i < JSON_N_FIELDS && error_message == NULL; i++) {
        void *state;
        const struct feature_field *f = field_of(c, r, (enum json_field)i, &state);

        if (f == NULL || f->set == NULL) {
            continue;
        }
        if (c->session == NULL) {
            chat_say_no_model(c->console);
            return false;
        }
        error_message = f->set(state, c, r->values[i]);
        if (error_message != NULL) {
            chat_json_error(c, f->name, f->name, 0, error_message);
            put_back(c, r, i);
        }
    }
    return error_message == NULL;
}

void chat_json_enter_fields(struct chat *c, const struct json_request *r)
{
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        void *state;
        const struct feature_field *f = field_of(c, r, (enum json_field)i, &state);

        if (f != NULL && f->enter != NULL) {
            f->enter(state, c, r->values[i]);
        }
    }
}
