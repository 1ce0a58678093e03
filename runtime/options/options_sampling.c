/* A model's own defaults for sampling. */
#include <assert.h>
#include <string.h>

#include "runtime/options/options_private.h"

static const struct {
    enum ingot_sampling_field bit;
    enum option option;
    size_t at; /* offset in struct ingot_sampling; each value has 4 bytes, as in struct options */
} fields[] = {
    { INGOT_SAMPLES_TEMP, OPTION_TEMP, offsetof(struct ingot_sampling, temp) },
    { INGOT_SAMPLES_TOP_P, OPTION_TOP_P, offsetof(struct ingot_sampling, top_p) },
    { INGOT_SAMPLES_MIN_P, OPTION_MIN_P, offsetof(struct ingot_sampling, min_p) },
    { INGOT_SAMPLES_REPEAT, OPTION_REPEAT, offsetof(struct ingot_sampling, repeat) },
    { INGOT_SAMPLES_TOP_K, OPTION_TOP_K, offsetof(struct ingot_sampling, top_k) },
    { INGOT_SAMPLES_REPEAT_LAST, OPTION_REPEAT_LAST, offsetof(struct ingot_sampling, repeat_last) },
};
static_assert(sizeof(float) == 4 && sizeof(uint32_t) == 4, "values of 4 bytes");

void options_take_sampling(struct options *o, const struct ingot_sampling *model)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct rule *rule = &options_rules[fields[i].option];

        if (options_given(o, fields[i].option)) {
            continue;
        }
        if ((model->given & (uint32_t)fields[i].bit) != 0) {
            memcpy((char *)o + rule->field, (const char *)model + fields[i].at, 4);
        } else {
            options_set_initial(o, rule);
        }
    }
}

struct ingot_sampling options_given_sampling(const struct options *o)
{
    struct ingot_sampling s = { 0 };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (options_given(o, fields[i].option)) {
            s.given |= (uint32_t)fields[i].bit;
            memcpy((char *)&s + fields[i].at,
                   (const char *)o + options_rules[fields[i].option].field, 4);
        }
    }
    return s;
}

void options_drop_sampling(struct option_set *s)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        option_set_put(s, fields[i].option, false);
    }
}
