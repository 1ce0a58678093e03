/* The text of a reply on its way out: whole characters, up to a stop string, thoughts as think=
 * says. What may be the beginning of a stop string or of a mark of thoughts is held back until it
 * is decided, wherever the tokens' borders are.
 *
 * Thoughts are what stands between a pair of marks, <think> and </think> or their like: from the
 * reply's beginning (white space aside), or all of it up to the second mark where the template
 * has the first. A mark further on is text. */
#ifndef INGOT_RUNTIME_REPLY_TEXT_H
#define INGOT_RUNTIME_REPLY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/options/options.h"
#include "runtime/text/utf8.h"

enum reply_part { REPLY_START, REPLY_THOUGHTS, REPLY_BEHIND_THOUGHTS, REPLY_ANSWER };

/* The end of a text that may be the beginning of one of the strings looked for. */
struct held_text {
    char text[OPTIONS_STOP_BYTES];
    uint8_t n;
};

struct reply_text {
    const struct options *options; /* stop strings, think= */
    struct utf8_writer writer;
    void (*dim)(bool on);
    bool hides;
    enum reply_part part;
    uint32_t thoughts; /* tokens of them so far */
    bool stopped;      /* a stop string is complete: nothing more comes out */
    uint64_t bytes;    /* that were put */
    uint64_t shown;    /* of these, before the stop string, once stopped */
    struct held_text stop, mark;
};

/* A reply begins, or `inside` its thoughts. Text goes to write (context NULL) in whole characters;
 * dim is told where thoughts that are to be dimmed begin and end. options outlive r. */
void reply_text_open(struct reply_text *r, const struct options *options, bool inside,
                     void (*write)(void *context, const char *text, size_t bytes),
                     void (*dim)(bool on));

/* The text of one more token. Afterwards r->stopped says whether the reply ends here. */
void reply_text_put(struct reply_text *r, const char *text, size_t bytes);

/* The reply has ended: what was held comes out, unless a stop string ended it. */
void reply_text_end(struct reply_text *r);

/* Whether a text is a mark of thoughts, and whether one that is to be continued ends with the mark
 * that opens them. */
bool reply_text_is_mark(const char *text, size_t bytes);
bool reply_text_opens(const char *text, size_t bytes);

#endif
