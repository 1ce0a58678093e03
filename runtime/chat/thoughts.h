/* How a person sees a reply's thoughts: in full, dimmed, or only as a number of tokens (think=). */
#ifndef INGOT_RUNTIME_THOUGHTS_H
#define INGOT_RUNTIME_THOUGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This code stands between generate() and the code that writes the text. */
struct thoughts {
    void (*write)(void *context, const char *text, size_t bytes);
    void (*dim)(void *context, bool on); /* called when dimmed thoughts begin and end */
    void *context;
    bool dims, hides; /* both false: thoughts are shown in full */
    bool inside;
    bool skips;     /* hidden thoughts have ended: white space before the answer is skipped */
    uint32_t count; /* tokens of thoughts so far */
};

/* Set write, dim and context, and zero the rest. think: enum option_think. */
void thoughts_open(struct thoughts *t, uint32_t think);

/* Take the events of struct generate_sink: thoughts begin or end, text comes, a token's text
 * is complete. */
void thoughts_turn(struct thoughts *t, bool begins);
void thoughts_write(struct thoughts *t, const char *text, size_t bytes);
void thoughts_end_token(struct thoughts *t);

#endif
