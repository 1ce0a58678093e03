/* Divisors of the frequencies of rotation (struct source.rope, FORMAT.md): the ways in which models
 * stretch their context. */
#ifndef INGOT_FLASH_IMAGE_ROPE_FACTORS_H
#define INGOT_FLASH_IMAGE_ROPE_FACTORS_H

#include "flash_image/source/source.h"

/* Point s->rope to factors that are all 1, unless it is already set; params.rope_dims must be
 * final. Errors: ERR_UNSUPPORTED, heads too wide. */
enum err rope_factors_take(struct source *s);

/* Multiply factors of s->rope, which rope_factors_take has made, by (rope_dims / 2) numbers or by
 * one number. rope_factors_multiply does this in one set, the others in all sets to which scaling
 * applies. Scaling does not apply to local layers with their own base or with rope_local_plain.
 * Errors, also of the next functions: ERR_BAD_MODEL if a factor exceeds FORMAT.md's bounds. */
enum err rope_factors_multiply(struct source *s, enum source_rope_set set, const float *by);
enum err rope_factors_multiply_all(struct source *s, const float *by);
enum err rope_factors_scale_all(struct source *s, float by);

/* YaRN (arXiv 2309.00071): frequencies that turn more than beta_fast times in the context of
 * training do not change. Frequencies that turn less than beta_slow times are divided by `factor`,
 * and a ramp connects both ranges. */
struct rope_yarn {
    double factor;
    uint32_t context;            /* of training */
    double beta_fast, beta_slow; /* 32 and 1 if a model does not say */
    bool exact;                  /* the ramp's ends are not rounded to whole numbers */
};
enum err rope_factors_yarn_all(struct source *s, const struct rope_yarn *y);

/* Return the factor of cosines and sines with YaRN, for models that do not give it. */
double rope_yarn_magnitude(double factor);

#endif
