/* Several requests share one pass over the weights (runtime/session/replies.h). Each pass adds a
 * token to every reply, and each reply gets the same tokens as it would alone. A turn of the group
 * is one pass; between two passes the serial line is served. Embeddings, lines of mode=json, and
 * requests with a grammar are answered alone. All of this runs on core 0. */
#ifndef INGOT_RUNTIME_API_GROUP_H
#define INGOT_RUNTIME_API_GROUP_H

#include "runtime/api/api.h"
#include "runtime/session/replies.h"
#include "runtime/wire/json_biases.h"

/* A request whose reply is made in the group. */
struct api_member {
    struct api_group *group;
    bool busy;
    uint32_t slot;             /* the reply's slot in `replies` */
    uint32_t reply, n_replies; /* the current reply of the request, and the number of replies */
    uint64_t waits_since;      /* when the client stopped reading, or 0 while it reads */
    uint64_t looked_ms;        /* time of the last look at the client */
    bool thinks;               /* the current text is thoughts, which the answer leaves out */
    struct api_work work;
    struct generate_params params;
    struct generate_sink sink;
    struct json_biases biases;
    uint64_t memory[API_MEMORY_BYTES / sizeof(uint64_t)]; /* of the request */
};

struct api_group {
    struct api *api;
    struct replies replies;
    struct stop stop;
    uint32_t version, model; /* the sequences' version and model: see api_group_use */
    uint32_t n;              /* members */
    struct api_member members[];
};

/* Set up a group in memory of api_group_bytes(n). If n is 0, requests are answered one by one. */
void api_group_open(struct api_group *g, struct api *a, uint32_t n);

/* Set the sequences (n, may be 0) that replies may use from now on. The caller changes `version` if
 * the sequences are new or other code has used them since the last call; the replies in progress
 * then end with an error. */
void api_group_use(struct api_group *g, struct session *const *sequences, uint32_t n,
                   uint32_t version);

/* Return a free member for the client's request. Returns NULL if no member is free now (*later is
 * true), or if the group cannot answer such a request (*later is false). */
struct api_member *api_group_room(struct api_group *g, const struct api_client *k, bool *later);

/* Let the request that was read into the member's memory join the others. */
void api_group_join(struct api_group *g, struct api_member *m);

/* Return how many more requests the group can take now. */
uint32_t api_group_free(const struct api_group *g);

/* Return true if a reply is in progress. */
bool api_group_works(const struct api_group *g);

/* Run one pass for all replies of the group. */
void api_group_pass(struct api_group *g);

#endif
