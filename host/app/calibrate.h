/* How large the inputs of a model's columns are: their mean squares over a text, which tell the
 * quantizer where an error costs most. The model runs in a separate process. */
#ifndef INGOT_HOST_CALIBRATE_H
#define INGOT_HOST_CALIBRATE_H

#include "flash_image/pack/pack.h"

enum { CALIBRATE_WINDOW = 256 };

struct calibration {
    struct ingot_params params;
    float *columns;    /* all inputs, normed to a mean of 1 (see calibrate.c); allocated */
    double perplexity; /* perplexity of the weights as 16-bit floats, on the same text */
};

/* Runs the model of o->input over the file `text`. False: an error was printed to standard
 * error. */
bool calibrate_run(struct calibration *c, const struct pack_options *o, const char *text);
void calibrate_free(struct calibration *c);

/* For pack_options.importance, with the calibration as its context. */
const float *calibrate_importance(void *calibration, enum ingot_role role, unsigned layer);

/* Measures the perplexity of an .ingot on the text. False: an error was printed to standard
 * error. */
bool calibrate_perplexity(const char *path, const char *text, double *perplexity);

#endif
