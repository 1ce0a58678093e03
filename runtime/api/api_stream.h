/* A reply as a sequence of pieces, for each API's stream and for the whole answer. Thoughts, text
 * and calls are items that follow each other. Each item opens, grows and closes. */
#ifndef INGOT_RUNTIME_API_STREAM_H
#define INGOT_RUNTIME_API_STREAM_H

#include "runtime/api/api_call.h"
#include "runtime/api/api_job.h"
#include "runtime/api/api_scores.h"

/* The data of one answer. */
struct api_answer {
    enum api_kind kind;
    uint64_t number; /* the number from which the answer's id is made */
    int64_t created; /* seconds since 1970 */
    const char *model;
    unsigned dialect; /* the API in which the request came (host/api/serve_answer.h) */
    bool loads;       /* the request loads a model, so it has no reply */
    const char *echo; /* JSON of the request's fields that the answer repeats, or NULL */
};

/* The parts of a reply. */
enum api_item { API_NO_ITEM, API_THOUGHTS_ITEM, API_TEXT_ITEM, API_CALL_ITEM };

/* The part of a reply that was sent. */
struct api_events {
    uint32_t index; /* index of the reply among the request's replies */
    bool begun, ended;
    bool texted;                      /* the reply has text */
    enum api_item open;               /* the current item */
    uint32_t items;                   /* the number of closed items */
    size_t from;                      /* where the open item begins in its text */
    uint32_t calls;                   /* the number of calls that were sent completely */
    size_t text, thoughts, arguments; /* bytes that were sent */
    uint32_t sequence;                /* the number of events that the writer sent */
    struct api_scores_at scores;
};

enum api_step {
    API_BEGINS,
    API_OPENS,  /* opens an item; `bytes` may be empty */
    API_GROWS,  /* adds bytes to the item */
    API_CLOSES, /* closes the item, which has `bytes` in all */
    API_ENDS,   /* ends the reply */
    API_FAILS,  /* ends the reply with the job's error */
};

struct api_piece {
    enum api_step step;
    enum api_item item;
    uint32_t number; /* number of the item in the reply */
    const char *bytes;
    size_t n;
    /* API_CALL_ITEM: */
    const struct api_call *call;
    uint32_t call_number; /* number of the call in the reply */
};

/* The state of one reply. */
struct api_stream {
    struct api_text *out;
    const struct api_answer *a;
    const struct api_job *j;
    struct api_events *at;
    void *context; /* passed on to the caller's function */
};

typedef void api_say(const struct api_stream *s, const struct api_piece *p);

/* Send all that was not sent yet and, if the job is done, the end. */
void api_stream_walk(const struct api_stream *s, api_say *say);

/* Return the first call of a reply, and the number of bytes of its text that are content. */
struct api_call api_stream_call(const struct api_job *j);

/* Return why a finished reply has ended. */
enum api_reason { API_STOPPED, API_CUT, API_CALLED };
enum api_reason api_stream_reason(const struct api_job *j);

/* Write a unique id for a call, item or answer of this server, with a word in
 * front: "call_6b0817a1_1_0". The number i is left out if it is 0. */
enum { API_ID_BYTES = 80 };
void api_stream_id(char id[API_ID_BYTES], const char *word, const struct api_answer *a,
                   uint32_t index, uint32_t i);

/* Return the number of tokens of a reply, including its tries that were refused. */
uint32_t api_stream_tokens(const struct api_job *j);

#endif
