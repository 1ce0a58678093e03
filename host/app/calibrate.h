/* Measures the inputs of matrices' columns: their mean squares over a text tell the quantizer where
 * an error costs most. The model runs in a separate process. */
#ifndef INGOT_HOST_CALIBRATE_H
#define INGOT_HOST_CALIBRATE_H

#include "flash_image/pack/pack.h"

enum { CALIBRATE_WINDOW = 256 };

struct calibration {
    struct ingot_params params;
    float *columns;    /* for all inputs, with a mean of 1 (see calibrate.c); allocated */
    double perplexity; /* perplexity on the same text with weights as 16-bit floats */
};

/* Runs the model o->input over the file `text`. Returns false after printing the error to
 * standard error. */
bool calibrate_run(struct calibration *c, const struct pack_options *o, const char *text);
void calibrate_free(struct calibration *c);

/* For pack_options.importance, with the calibration as its context. */
const float *calibrate_importance(void *calibration, enum ingot_role role, unsigned layer);

/* Measures the perplexity of an .ingot on the text. Returns false after printing the error to
 * standard error. */
bool calibrate_perplexity(const char *path, const char *text, double *perplexity);

#endif
