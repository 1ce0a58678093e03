/* A reply in pieces, in their order: for each API's stream, and for the whole answer. Thoughts,
 * text and calls are items, one after the other; each opens, grows and closes. */
#ifndef INGOT_HOST_SERVE_STREAM_H
#define INGOT_HOST_SERVE_STREAM_H

#include "host/api/serve_answer.h"
#include "host/api/serve_call.h"

enum serve_step {
    SERVE_BEGINS,
    SERVE_OPENS,  /* opens an item, with its first bytes or none */
    SERVE_GROWS,  /* adds bytes to the item */
    SERVE_CLOSES, /* closes the item, which has `bytes` in all */
    SERVE_ENDS,   /* the reply */
    SERVE_FAILS,  /* the job's error */
};

struct serve_piece {
    enum serve_step step;
    enum serve_item item;
    uint32_t number; /* number of the item in the reply */
    const char *bytes;
    size_t n;
    /* SERVE_CALL_ITEM: */
    const struct serve_call *call;
    uint32_t call_number; /* number among the calls of the reply */
};

/* The state of one reply. */
struct serve_stream {
    struct serve_text *out;
    const struct serve_answer *a;
    const struct serve_job *j;
    struct serve_events *at;
    void *context; /* context of the caller that asked for the pieces */
};

typedef void serve_say(const struct serve_stream *s, const struct serve_piece *p);

/* Sends what was not sent so far, to the end if the job is done. The caller has its lock. */
void serve_stream_walk(const struct serve_stream *s, serve_say *say);

/* Sends the pieces of a whole reply, from the beginning to the end. */
void serve_stream_all(const struct serve_answer *a, const struct serve_job *j, serve_say *say,
                      void *context);

/* Finds the first call of a reply, and how much of its text is content. */
struct serve_call serve_stream_call(const struct serve_job *j);

/* Returns why a finished reply has ended. */
enum serve_reason { SERVE_STOPPED, SERVE_CUT, SERVE_CALLED };
enum serve_reason serve_stream_reason(const struct serve_job *j);

/* Writes a unique number for a call, item or answer of this server, after a word:
 * "call_6b0817a1_1_0". i 0 is left out. */
enum { SERVE_ID_BYTES = 80 };
void serve_stream_id(char id[SERVE_ID_BYTES], const char *word, const struct serve_answer *a,
                     uint32_t index, uint32_t i);

/* Returns some of a text as JSON. */
struct cJSON *serve_stream_text(const char *bytes, size_t n);

/* Adds the list `warnings` of a request to the object, if there are any. */
void serve_stream_warnings(struct cJSON *object, const struct serve_request *q);

/* Returns how and where the reply was made (docs/SERVE.md, figures). */
struct cJSON *serve_stream_figures(const struct serve_job *j);

/* Returns the tokens of replies, including those that were refused and made again. */
uint32_t serve_stream_tokens(const struct serve_job *j);

#endif
