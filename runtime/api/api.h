/* OpenAI's API on a machine without an operating system: an HTTP site (runtime/http) whose requests
 * wait here for the model. Requests then join a group (api_group.h) or become lines of mode=json.
 * All of the API's memory is in struct api and the group. The API runs on core 0.
 *
 * Site functions run whenever the network is polled, also in the middle of a reply, and only record
 * what has arrived. Call api_serve between two lines of the conversation. */
#ifndef INGOT_RUNTIME_API_H
#define INGOT_RUNTIME_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_chat.h"
#include "runtime/api/api_load.h"
#include "runtime/api/api_request.h"
#include "runtime/api/api_text.h"
#include "runtime/api/api_upload.h"
#include "runtime/chat/chat.h"
#include "runtime/console/console.h"
#include "runtime/http/http_connection.h"

enum {
    API_CLIENTS = 8,
    API_WAITING = 4, /* requests that can wait for the model; further clients are told to try
                      * again */
    API_BODY_BYTES = 24 * 1024,
    API_LINE_BYTES = 32 * 1024,
    API_OUT_BYTES = 16 * 1024,
    API_PIECE_BYTES = 1024,
    API_EVENT_BYTES = 8192,  /* the longest event of mode=json that is parsed; longer events are
                             * ignored */
    API_SLOW_MS = 5000,      /* a reply waits this long, in ms, for a client that does not read */
    API_SLOW_ALL_MS = 15000, /* longest wait in all, in ms, for a client that reads slowly */
    API_NAME_BYTES = 256,
    API_MEMORY_BYTES = 160 * 1024, /* memory for the values of one request, and for the line of
                                    * mode=json that is made from them */
};

enum api_stage {
    API_READS,   /* a request is arriving, or there is none */
    API_WAITS,   /* a request is complete and waits for the model */
    API_WORKS,   /* a request is being answered */
    API_ANSWERS, /* the whole answer is in `out` */
};

struct api;

struct api_client {
    struct api *api;
    struct http_connection *http; /* NULL if the client is gone */
    enum api_stage stage;
    enum api_kind kind;
    uint64_t order;   /* the waiting request with the smallest number is answered next */
    uint32_t callers; /* requests in this slot so far; if the number changed, the slot has another
                       * client */
    bool keeps_body;  /* the current request's body is stored */
    bool uploads;     /* a file is uploaded; `body` holds its bytes that were not written yet */
    bool arrived;     /* the whole body has come */
    bool has_crc;
    uint32_t crc;           /* CRC of the whole file, as the sender states it */
    struct api_range range; /* the part of the file that arrives */
    char path[API_PATH_BYTES];
    size_t body_bytes;
    char body[API_BODY_BYTES + 1];
    size_t out_at, out_end; /* the client has not fetched bytes out_at to out_end of `out` */
    bool last;              /* nothing more is added to out */
    bool cut;               /* the answer stays incomplete, so the connection is closed */
    char out[API_OUT_BYTES];
};

struct api_setup {
    const struct platform *platform;
    const char *name;  /* this host's name; requests to NAME and NAME.local are accepted */
    const char *token; /* NULL: there is none */
    bool open;         /* everyone who can reach the board may send requests, without a token */
    /* Lets the network work while the model computes. */
    void (*poll)(void *context);
    void *context;
    void *group; /* api_group_bytes(n_group), 64-byte aligned and zeroed */
    uint32_t n_group;
    struct api_store store;
    /* Replaces the current model with another. Returns NULL, or an error message, with the answer's
     * HTTP status in *status. If the function is NULL, the model never changes. */
    const char *(*load)(void *context, const char *name, int *status);
    /* Constrains the following replies to a compiled grammar (bytes) until `release`. Returns NULL,
     * or a sentence that says why it failed. */
    const char *(*hold)(void *context, const void *grammar, size_t bytes);
    void (*release)(void *context);
    /* Writes fields for /stats, as members of a JSON object with a comma in front, or nothing if
     * there are none. */
    void (*figures)(void *context, struct api_text *to);
};

/* The answer that is being written. */
struct api_work {
    struct api_client *client;
    uint32_t caller;    /* the client's `callers` when the request began */
    bool begun, failed; /* the head has been sent; the answer has failed */
    bool stops;         /* the last byte of input was a Ctrl-C */
    uint64_t waited_ms; /* how long the answer has waited for its client so far */
    uint64_t number;
    struct api_job job; /* the request, and its current reply */
    struct api_answer answer;
    struct api_memory memory;
    size_t request_bytes;     /* bytes of `memory` that hold the request; the reply gets the
                               * rest */
    uint32_t number_of_reply; /* index of this reply among the request's replies */
    struct api_events at;
    struct api_usage usage;
    struct api_figures first; /* figures of the first reply */
    struct api_text out;      /* text in `piece`, which is passed on when it is full */
    char piece[API_PIECE_BYTES];
    uint32_t embedded;  /* tokens of the texts that were embedded so far */
    bool in_values;     /* the numbers of a vector are arriving */
    size_t number_at;   /* where the current number begins in `event` */
    size_t event_bytes; /* bytes of `event`; an event longer than API_EVENT_BYTES is dropped */
    char event[API_EVENT_BYTES + 1];
};

struct api {
    struct api_setup setup;
    char model[API_NAME_BYTES]; /* the name of the loaded model, or "" if none is loaded */
    uint64_t n_orders, n_answers, n_refused, last_poll;
    struct platform platform; /* the machine's platform, but with a guest's console */
    struct console console;
    struct api_work *work;   /* the current answer: `alone`, or a member of the group */
    struct api_work alone;   /* the answer to a request outside the group */
    struct api_group *group; /* the requests that are answered in one pass */
    bool was_alone;          /* the last turn answered a request outside the group */
    struct api_upload upload;
    char line[API_LINE_BYTES];
    uint64_t memory[API_MEMORY_BYTES / sizeof(uint64_t)]; /* memory of the current request */
    char text[1024];                                      /* a short answer, until it is copied */
    struct api_client clients[API_CLIENTS];
};

/* Set up `a`, which must be zeroed. */
void api_open(struct api *a, const struct api_setup *setup);

/* Return the size of a group for n requests. */
size_t api_group_bytes(uint32_t n);

/* Set the sequences (n) for replies that share a pass (api_group.h: api_group_use). */
void api_set_sequences(struct api *a, struct session *const *sequences, uint32_t n,
                       uint32_t version);

/* Set the name of the loaded model, or NULL if none is loaded. */
void api_set_model(struct api *a, const char *name);

/* The site, and the functions for its clients, which the server of connections calls. */
extern const struct http_site api_site;
void *api_begin(void *api, unsigned n, struct http_connection *http);
void api_end(void *api, unsigned n);
bool api_works(void *api, unsigned n);

/* Return true if a request waits for the model, or a reply is in progress. */
bool api_has_work(const struct api *a);

/* Answer the request that has waited longest, or advance the replies of the group by a pass. `c` is
 * the chat, with a model or without one; `conversation` is as for chat_json_guest. */
void api_serve(struct api *a, struct chat *c, const char *conversation);

/* ---- shared by the files of this folder ---- */

/* Set the whole answer (bytes, at most API_OUT_BYTES). `fields` are further fields of its head, or
 * NULL. */
void api_answer(struct api_client *k, int status, const char *type, const char *fields,
                const char *body, size_t bytes);

/* Set an error object as the whole answer. An empty param or code becomes null. */
void api_answer_error(struct api_client *k, int status, const char *message, const char *param,
                      const char *code);

/* Set the error for a page that takes only POST, or only GET. */
void api_answer_method(struct api_client *k, bool takes_post);

/* Open the console through which the chat writes the current answer. */
void api_open_console(struct api *a);

/* Return true if there is room for another waiting request. */
bool api_may_wait(const struct api *a);

uint64_t api_now_ms(const struct api *a);

/* Return true if the client of the current answer is gone. */
bool api_is_gone(const struct api *a);

/* Append bytes to the current answer. Returns false if the client is gone or does not read. */
bool api_out(struct api *a, const char *bytes, size_t n);

/* Begin the answer to a request that has been read, and begin its reply i. */
void api_event_begin(struct api *a);
void api_reply_begin(struct api *a, uint32_t i);

/* Return true if there is memory for a reply; limit its number of tokens so that their scores
 * fit. */
bool api_reply_has_room(struct api *a);

/* Pass on the text that the reply has gained since the last call. */
void api_reply_walk(struct api *a);

/* End the reply with an error. If nothing was sent yet, the error is the answer. */
void api_reply_fail(struct api *a, const struct api_error *e);

/* End a reply that does not fit into the memory. */
void api_reply_is_long(struct api *a);

/* Take one byte of the chat's output in mode=json. */
void api_event_byte(struct api *a, char byte);

/* End the current reply. */
void api_reply_end(struct api *a);

/* End the answer, whether it succeeded or not. */
void api_event_end(struct api *a);

#endif
