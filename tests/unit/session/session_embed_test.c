/* The mean of hidden states: for one token it gives the token's own logits, it is the same beside a
 * conversation and in pieces, and the conversation continues unchanged. */
#include "runtime/session/session.h"

#include "tests/unit/rig.h"

enum { N = 23, TALK = 40, MOST_DIM = 1024, MOST_VOCAB = 2048 };

static uint32_t talk[TALK + 1], text[N];
static struct workers crew;

static const float *embed(const uint32_t *ids, uint32_t n)
{
    const float *mean = NULL;
    uint32_t room;

    session_forget_guesses(&rig.session);
    memcpy(session_room(&rig.session, &room), ids, n * sizeof *ids);
    return session_embed(&rig.session, n, NULL, &mean) == ERR_OK ? mean : NULL;
}

static void start(uint32_t chunk)
{
    if (rig_start(0, chunk, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

static size_t dim_bytes(void)
{
    return rig.model.image.header->params.dim * sizeof(float);
}

static void test_one_token(void)
{
    static float own[MOST_VOCAB], hidden[MOST_DIM];
    const float *mean;
    float *logits;

    start(0);
    if (session_append(&rig.session, text, 1, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    memcpy(own, rig.session.logits, rig_logits_bytes());
    session_clear(&rig.session);
    mean = embed(text, 1);
    OK(mean != NULL, "a token's embedding is computed");
    if (mean == NULL)
        return;
    memcpy(hidden, mean, dim_bytes());
    OK(transformer_logits_of(&rig.model.transformer, hidden, 1, &logits) == ERR_OK &&
           memcmp(logits, own, rig_logits_bytes()) == 0,
       "the embedding is the state that gives the logits");
}

static void test_beside_talk(void)
{
    static float alone[MOST_DIM], next[MOST_VOCAB];
    static const uint32_t chunks[] = { 1, 7, 32 };
    const float *mean;
    bool same = true;

    start(0);
    mean = embed(text, N);
    if (mean == NULL)
        rig_die("no embedding");
    memcpy(alone, mean, dim_bytes());
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        start(chunks[i]);
        mean = embed(text, N);
        same = same && mean != NULL && memcmp(mean, alone, dim_bytes()) == 0;
    }
    OK(same, "chunks of 1, 7 and 32 give the same bits");

    start(0);
    if (session_append(&rig.session, talk, TALK + 1, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    memcpy(next, rig.session.logits, rig_logits_bytes());
    (void)session_cut(&rig.session, TALK);
    mean = embed(text, N);
    OK(mean != NULL && memcmp(mean, alone, dim_bytes()) == 0,
       "an embedding beside a conversation has the same bits");
    OK(rig.session.n_ids == TALK && rig.session.n_cached == 0 &&
           memcmp(rig.session.ids, talk, TALK * sizeof *talk) == 0,
       "the conversation is there, and pending");
    OK(session_append(&rig.session, talk + TALK, 1, NULL) == ERR_OK &&
           memcmp(rig.session.logits, next, rig_logits_bytes()) == 0,
       "the conversation continues with the same logits");
}

static bool at_once(void *context)
{
    unsigned *left = context;

    return (*left)-- == 0;
}

static void test_stop(void)
{
    unsigned left = 3;
    struct stop stop = { at_once, &left };
    const float *mean;
    uint32_t room;

    start(4);
    if (session_append(&rig.session, talk, TALK, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    memcpy(session_room(&rig.session, &room), text, sizeof text);
    OK(session_embed(&rig.session, N, &stop, &mean) == ERR_ABORTED && rig.session.n_ids == TALK &&
           memcmp(rig.session.ids, talk, TALK * sizeof *talk) == 0,
       "a stopped embedding leaves the conversation unchanged");
    OK(session_append(&rig.session, talk + TALK, 1, NULL) == ERR_OK,
       "the conversation continues after a stopped embedding");
}

int main(void)
{
    rig.workers = &crew;
    workers_start(&crew, rig_platform(), 1);
    rig_make_model("tiny", INGOT_Q8_0);
    rig_compute(true);
    for (uint32_t i = 0; i <= TALK; i++)
        talk[i] = 7 + i * 11 % 200;
    for (uint32_t i = 0; i < N; i++)
        text[i] = 3 + i * 29 % 230;
    test_one_token();
    test_beside_talk();
    test_stop();
    return tap_done();
}
