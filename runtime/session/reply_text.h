/* The text of a reply on its way to the sink: whole characters, up to a stop string, with thoughts
 * and answer separate. Text that may be the beginning of a stop string or of a mark of thoughts is
 * held back until this is decided, even across tokens.
 *
 * Thoughts are the text between a pair of marks such as <think> and </think>, marks included.
 * Thoughts are only at the reply's beginning (ignoring white space); if the template already has
 * the opening mark, thoughts end at the closing mark. A later mark is ordinary text. */
#ifndef INGOT_RUNTIME_REPLY_TEXT_H
#define INGOT_RUNTIME_REPLY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/text/utf8.h"

enum {
    REPLY_TEXT_STOPS = 16,      /* stop strings at most */
    REPLY_TEXT_STOP_BYTES = 64, /* bytes of a stop string, with its NUL */
};

struct reply_stops {
    const char *text[REPLY_TEXT_STOPS]; /* NUL-terminated, none empty */
    uint32_t n;
};

/* The destination of the text. */
struct reply_text_out {
    void *context;
    void (*write)(void *context, const char *text, size_t bytes); /* whole characters */
    void (*think)(void *context, bool begins); /* thoughts begin, or end; NULL: not needed */
};

enum reply_part { REPLY_START, REPLY_THOUGHTS, REPLY_ANSWER };

/* The end of a text, held back because it may be the beginning of a searched string. */
struct held_text {
    char text[REPLY_TEXT_STOP_BYTES];
    uint8_t n;
};

struct reply_text {
    const struct reply_stops *stops;
    const struct reply_text_out *out;
    struct utf8_writer writer;
    enum reply_part part;
    bool stopped;   /* a stop string is complete: no more text is written */
    uint64_t bytes; /* bytes that were put */
    uint64_t shown; /* bytes of text before the stop string, after it has come */
    uint32_t which; /* index of the stop string that has come */
    struct held_text stop, mark;
};

/* Begin a reply; `inside`: the reply begins with its thoughts. stops and out outlive r. */
void reply_text_open(struct reply_text *r, const struct reply_stops *stops, bool inside,
                     const struct reply_text_out *out);

/* Put the text of one more token. Afterwards r->stopped says whether the reply ends here. */
void reply_text_put(struct reply_text *r, const char *text, size_t bytes);

/* Return true if reply_text_end() has something to write. */
bool reply_text_holds(const struct reply_text *r);

/* The reply has ended: write text that was held back, unless a stop string ended it. */
void reply_text_end(struct reply_text *r);

/* reply_text_is_mark returns true if a text is a mark of thoughts. reply_text_opens returns true if
 * the text before a reply ends with an opening mark; white space after the mark is ignored. */
bool reply_text_is_mark(const char *text, size_t bytes);
bool reply_text_opens(const char *text, size_t bytes);

#endif
