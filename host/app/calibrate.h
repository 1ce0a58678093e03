/* Measures the inputs of the columns of matrices: their root mean squares over a text tell the
 * quantizer where an error costs most. The model runs in a separate process. */
#ifndef INGOT_HOST_CALIBRATE_H
#define INGOT_HOST_CALIBRATE_H

#include "flash_image/pack/pack.h"

enum { CALIBRATE_WINDOW = 256 };

struct calibration {
    struct ingot_params params;
    float *columns;    /* importance of the columns of all inputs; its mean square for an input is
                          about 1; allocated */
    double perplexity; /* perplexity on the text, with weights as 16-bit floats */
};

/* Runs the model o->input over the file `text`. Returns false after printing the error to
 * standard error. */
bool calibrate_run(struct calibration *c, const struct pack_options *o, const char *text);
void calibrate_free(struct calibration *c);

/* A function for pack_options.importance, whose context is the calibration. */
const float *calibrate_importance(void *calibration, enum ingot_role role, unsigned layer);

/* Measures the perplexity of an .ingot on the text. Returns false after printing the error to
 * standard error. */
bool calibrate_perplexity(const char *path, const char *text, double *perplexity);

#endif
