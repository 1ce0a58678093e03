#include "runtime/wire/json_ids.h"

enum { ID_DIGITS = 9 /* most digits of an id, so that it stays below 2^32 */ };

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return at;
}

bool json_ids_next(const char **at, uint32_t *id)
{
    const char *p = skip_blanks(*at);
    unsigned digits = 0;
    bool first = *p == '[';

    if (first || *p == ',') {
        p = skip_blanks(p + 1);
    } else if (*p != ']') {
        return false;
    }
    if (*p == ']' && (first || **at != ',')) {
        p = skip_blanks(p + 1);
        *at = *p == '\0' ? NULL : p;
        return false;
    }
    for (*id = 0; *p >= '0' && *p <= '9' && digits < ID_DIGITS; digits++) {
        *id = *id * 10 + (uint32_t)(*p++ - '0');
    }
    *at = skip_blanks(p);
    return digits != 0 && (**at == ',' || **at == ']');
}

const char *json_ids_check(const char *text, uint32_t vocab, uint32_t most, uint32_t *n)
{
    uint32_t id;

    *n = 0;
    while (json_ids_next(&text, &id)) {
        if (id >= vocab) {
            return "an id is not in the model's vocabulary";
        }
        if (*n == most) {
            return "there are more ids than the context has room for: leave some out, or raise ctx=";
        }
        (*n)++;
    }
    if (text != NULL) {
        return "ids is a list of whole numbers";
    }
    return *n == 0 ? "ids is empty: give at least one token" : NULL;
}
