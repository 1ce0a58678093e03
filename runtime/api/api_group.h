/* Several requests in one pass over the weights (runtime/session/replies.h): each pass advances
 * every reply by a token, and a reply has the same tokens as alone. A pass is a turn: the line
 * works between two of them. Requests with a grammar, embeddings and lines of mode=json are
 * answered alone. Core 0. */
#ifndef INGOT_RUNTIME_API_GROUP_H
#define INGOT_RUNTIME_API_GROUP_H

#include "runtime/api/api.h"
#include "runtime/session/replies.h"
#include "runtime/wire/json_biases.h"

/* A request whose reply is made in the group. */
struct api_member {
    struct api_group *group;
    bool busy;
    uint32_t slot;             /* of the replies */
    uint32_t reply, n_replies; /* of the request */
    uint64_t waits_since;      /* ms: the client does not take its answer; 0: it does */
    bool thinks;               /* what comes is thoughts, which are not part of the answer */
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
    uint32_t version, model; /* of the sequences, see api_group_use */
    uint32_t n;              /* members */
    struct api_member members[];
};

/* memory of api_group_bytes(n). n 0: requests are answered one after the other. */
void api_group_open(struct api_group *g, struct api *a, uint32_t n);

/* The sequences (n) that replies may use from now on; n 0: there are none. version: another number
 * if other code used them since the last call, or if they are new. Then the replies in progress end
 * with an error. */
void api_group_use(struct api_group *g, struct session *const *sequences, uint32_t n,
                   uint32_t version);

/* A free member for the client's request. NULL: there is none now (*later), or never for such a
 * request. */
struct api_member *api_group_room(struct api_group *g, const struct api_client *k, bool *later);

/* The member's request, which was read into its memory, joins the others. */
void api_group_join(struct api_group *g, struct api_member *m);

/* How many more requests the group could take now. */
uint32_t api_group_free(const struct api_group *g);

/* Whether a reply is in progress. */
bool api_group_works(const struct api_group *g);

/* One pass. */
void api_group_pass(struct api_group *g);

#endif
