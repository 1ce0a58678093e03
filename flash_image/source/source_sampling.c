/* Sampling defaults that a file recommends. */
#include "flash_image/source/source.h"

struct bounds {
    double least, most;
    bool whole;
};

static struct bounds bounds_of(enum ingot_sampling_field field)
{
    switch (field) {
    case INGOT_SAMPLES_TEMP: return (struct bounds){ 0, 100, false };
    case INGOT_SAMPLES_REPEAT: return (struct bounds){ 0.01, 100, false };
    case INGOT_SAMPLES_TOP_K: return (struct bounds){ 0, INGOT_MAX_VOCAB, true };
    case INGOT_SAMPLES_REPEAT_LAST: return (struct bounds){ 0, INGOT_MAX_CONTEXT, true };
    default: return (struct bounds){ 0, 1, false };
    }
}

static void keep(struct ingot_sampling *to, enum ingot_sampling_field field, double value)
{
    to->given |= (uint32_t)field;
    switch (field) {
    case INGOT_SAMPLES_TEMP: to->temp = (float)value; break;
    case INGOT_SAMPLES_TOP_P: to->top_p = (float)value; break;
    case INGOT_SAMPLES_MIN_P: to->min_p = (float)value; break;
    case INGOT_SAMPLES_REPEAT: to->repeat = (float)value; break;
    case INGOT_SAMPLES_TOP_K: to->top_k = (uint32_t)value; break;
    default: to->repeat_last = (uint32_t)value; break;
    }
}

static double value_of(const struct ingot_sampling *s, enum ingot_sampling_field field)
{
    switch (field) {
    case INGOT_SAMPLES_TEMP: return (double)s->temp;
    case INGOT_SAMPLES_TOP_P: return (double)s->top_p;
    case INGOT_SAMPLES_MIN_P: return (double)s->min_p;
    case INGOT_SAMPLES_REPEAT: return (double)s->repeat;
    case INGOT_SAMPLES_TOP_K: return s->top_k;
    default: return s->repeat_last;
    }
}

void source_put_sampling(struct ingot_sampling *to, const struct ingot_sampling *over)
{
    for (uint32_t bit = 1; bit <= INGOT_ALL_SAMPLING; bit <<= 1) {
        if ((over->given & bit) != 0) {
            keep(to, (enum ingot_sampling_field)bit,
                 value_of(over, (enum ingot_sampling_field)bit));
        }
    }
}

void source_sample(struct source *s, enum ingot_sampling_field field, const char *name,
                   double value)
{
    const struct bounds b = bounds_of(field);

    if (b.whole && value <= -1 && value >= -1) {
        value = field == INGOT_SAMPLES_TOP_K ? 0 : b.most; /* all tokens: top_k is off */
    }
    if (!(value >= b.least && value <= b.most) || (b.whole && value != (double)(uint32_t)value)) {
        source_note(s, "%s is %g, which is out of its range: it is left out", name, value);
        return;
    }
    keep(&s->sampling, field, value);
}
