/* Every error of a caller, or of its file, has a name, and later calls work. */
#include <math.h>
#include <unistd.h>

#include "flash_image/pack/pack.h"
#include "tests/unit/library/library_rig.h"

#define DEMO "models/demo-q8_0.ingot"

/* ---- setups --------------------------------------------------------------------------------- */

static bool no_start(void *context, uint32_t core, void (*entry)(void *arg), void *arg)
{
    (void)context;
    (void)core;
    (void)entry;
    (void)arg;
    return false;
}

/* Makes both calls that take a setup; the handle is NULL afterwards. */
static bool refused(const struct ingot_setup *setup, enum ingot_error error)
{
    struct ingot_model *model = (struct ingot_model *)setup;
    struct ingot_memory needed;
    bool good = ingot_open(setup, &model) == error && model == NULL;

    return good && ingot_memory_needed(setup, &needed) == error;
}

static void test_setups(struct rig *r)
{
    struct ingot_setup s = r->setup;
    struct ingot_memory needed;
    struct ingot_model *model;

    OK(ingot_open(&s, NULL) == INGOT_BAD_ARGUMENT &&
           ingot_open(NULL, &model) == INGOT_BAD_ARGUMENT &&
           ingot_memory_needed(&s, NULL) == INGOT_BAD_ARGUMENT &&
           ingot_memory_needed(NULL, &needed) == INGOT_BAD_ARGUMENT,
       "a missing setup or handle is refused");
#define REFUSED(member, value, error) \
    s = r->setup; \
    s.member = value; \
    OK(refused(&s, error), "%s is refused if it is %s: %s", #member, #value, \
       ingot_error_text(error))
    REFUSED(memory, NULL, INGOT_BAD_ARGUMENT);
    REFUSED(memory_bytes, 0, INGOT_NO_MEMORY);
    REFUSED(memory_bytes, 100, INGOT_NO_MEMORY);
    REFUSED(source.read, NULL, INGOT_BAD_ARGUMENT);
    REFUSED(source.bytes, 4095, INGOT_BAD_ARGUMENT);
    REFUSED(source.data, r->file + 8, INGOT_BAD_ARGUMENT);
    REFUSED(clock.ticks, NULL, INGOT_BAD_ARGUMENT);
    REFUSED(clock.hz, 0, INGOT_BAD_ARGUMENT);
    REFUSED(cores.n, 2, INGOT_BAD_ARGUMENT);
    REFUSED(cores.n, INGOT_MOST_CORES + 1, INGOT_BAD_ARGUMENT);
    REFUSED(cpu, 1u << 28, INGOT_BAD_ARGUMENT);
    REFUSED(cpu, INGOT_CPU_DETECT | INGOT_CPU_AVX2, INGOT_BAD_ARGUMENT);
    REFUSED(kv, (enum ingot_kv)3, INGOT_BAD_ARGUMENT);
    REFUSED(cores, ((struct ingot_cores){ .n = 2, .start = no_start }), INGOT_BAD_ARGUMENT);
#undef REFUSED
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Checks an error: it has a message, and the handle can be closed and nothing else. */
static bool fails(struct rig *r, enum ingot_error error)
{
    struct ingot_model_info info;
    size_t bytes;
    bool good = ingot_open(&r->setup, &r->model) == error && r->model != NULL &&
                ingot_error_message(r->model)[0] != '\0' &&
                ingot_load(r->model) == INGOT_WRONG_ORDER &&
                ingot_model_describe(r->model, &info) == INGOT_WRONG_ORDER &&
                ingot_token_text(r->model, 1, 1, &bytes)[0] == '\0';

    printf("# %s\n", ingot_error_message(r->model));
    return good && ingot_close(r->model) == INGOT_OK;
}

static bool say_stop(void *context, const char *doing, uint64_t done, uint64_t total)
{
    unsigned *left = context;

    (void)doing;
    (void)done;
    (void)total;
    return (*left)-- != 0;
}

static void test_files(struct rig *r)
{
    struct ingot_setup setup = r->setup;
    uint64_t bytes = setup.source.bytes;
    unsigned left = 0;

    r->setup.memory_bytes = 700 << 10;
    OK(fails(r, INGOT_NO_MEMORY), "memory for the tables alone is not enough");
    r->setup.memory_bytes = setup.memory_bytes;
    r->setup.context = 513;
    OK(fails(r, INGOT_BAD_ARGUMENT), "a context beyond the model's is refused");
    r->setup.context = 0;
    r->setup.source.bytes = bytes / 2;
    OK(fails(r, INGOT_DAMAGED), "half a file is refused");
    r->setup.source.bytes = bytes;
    r->file[0] ^= 1;
    OK(fails(r, INGOT_NOT_A_MODEL), "another magic is refused");
    r->file[0] ^= 1;
    r->file[8] ^= 1;
    OK(fails(r, INGOT_BAD_VERSION), "another version is refused");
    r->file[8] ^= 1;
    r->file[5000] ^= 1;
    OK(fails(r, INGOT_DAMAGED), "a wrong bit of the tables is found");
    r->file[5000] ^= 1;
    r->reads_left = 0;
    OK(fails(r, INGOT_READ_FAILED), "a model does not open if no read works");
    r->reads_left = -1;
    r->setup.progress = say_stop;
    r->setup.progress_context = &left;
    OK(fails(r, INGOT_STOPPED), "a model does not open if progress says stop");
    r->setup = setup;
}

static bool load_fails(struct rig *r, enum ingot_error error)
{
    bool good = ingot_load(r->model) == error && ingot_error_message(r->model)[0] != '\0' &&
                ingot_session_begin(r->model, &r->session) == INGOT_WRONG_ORDER &&
                r->session == NULL && ingot_load(r->model) == INGOT_WRONG_ORDER;

    return good && ingot_close(r->model) == INGOT_OK;
}

static void test_loading(struct rig *r)
{
    unsigned left = 1000;

    (void)ingot_open(&r->setup, &r->model);
    r->file[r->file_bytes / 2] ^= 1;
    OK(load_fails(r, INGOT_DAMAGED), "a wrong bit of a weight is found");
    r->file[r->file_bytes / 2] ^= 1;
    (void)ingot_open(&r->setup, &r->model);
    r->reads_left = 1;
    OK(load_fails(r, INGOT_READ_FAILED), "a load fails if reads fail");
    r->reads_left = -1;
    r->setup.progress = say_stop;
    r->setup.progress_context = &left;
    (void)ingot_open(&r->setup, &r->model);
    left = 1;
    OK(load_fails(r, INGOT_STOPPED), "a load stops if progress says stop");
    r->setup.progress = NULL;
}

/* For any size of memory and any failing read, the model loads or the error has its name. */
static void test_all_sizes(struct rig *r)
{
    struct ingot_setup setup = r->setup;
    unsigned n_fine = 0, n_wrong = 0;

    for (size_t bytes = 0; bytes < 5 << 20; bytes += bytes < 40960 ? 509 : 50021) {
        enum ingot_error e;

        r->setup.memory_bytes = bytes;
        e = rig_start(r);
        n_fine += e == INGOT_OK;
        n_wrong += e != INGOT_OK && e != INGOT_NO_MEMORY;
        if (r->model != NULL)
            n_wrong += ingot_close(r->model) != INGOT_OK;
    }
    OK(n_wrong == 0 && n_fine > 10, "%u sizes of memory are enough, and the others are refused",
       n_fine);
    r->setup = setup;
    n_fine = 0;
    for (r->reads_left = 0; n_fine == 0;) {
        int reads = r->reads_left;
        enum ingot_error e = rig_start(r);

        n_fine += e == INGOT_OK;
        n_wrong += e != INGOT_OK && e != INGOT_READ_FAILED;
        n_wrong += ingot_close(r->model) != INGOT_OK;
        r->reads_left = reads + 1;
    }
    OK(n_wrong == 0, "with up to %d reads the start fails, and with more it works",
       r->reads_left - 2);
    r->reads_left = -1;
}

/* Weights that stream, and a card that fails in the middle of a reply, or delivers a wrong bit. */
static void test_streaming(struct rig *r)
{
    struct ingot_generate_params p = rig_greedy();

    r->setup.weight_bytes = 600 << 10;
    (void)rig_start(r);
    (void)rig_turn(r, RIG_QUESTION);
    r->reads_left = 1;
    OK(rig_generate(r, &p, NULL) == INGOT_READ_FAILED && ingot_error_message(r->model)[0] != '\0',
       "a reply fails if reads fail in the prompt: %s", ingot_error_message(r->model));
    r->reads_left = -1;
    OK(rig_generate(r, &p, NULL) == INGOT_OK && strcmp(r->said, RIG_ANSWER) == 0,
       "a reply comes when reads work again: %s", r->said);
    (void)ingot_close(r->model);
    r->setup.weight_bytes = 0;
}

/* ---- order ---------------------------------------------------------------------------------- */

static void test_order(struct rig *r)
{
    struct ingot_session *second = r->session;
    const float *logits;

    (void)ingot_open(&r->setup, &r->model);
    OK(ingot_session_begin(r->model, &r->session) == INGOT_WRONG_ORDER && r->session == NULL,
       "a session before the weights is refused");
    OK(ingot_load(r->model) == INGOT_OK && ingot_load(r->model) == INGOT_WRONG_ORDER &&
           ingot_error_message(r->model)[0] != '\0',
       "loading a second time is refused: %s", ingot_error_message(r->model));
    OK(ingot_session_begin(r->model, &r->session) == INGOT_OK &&
           ingot_session_begin(r->model, &second) == INGOT_WRONG_ORDER && second == NULL,
       "a second session is refused: %s", ingot_error_message(r->model));
    OK(rig_generate(r, NULL, NULL) == INGOT_WRONG_ORDER &&
           ingot_logits(r->session, &logits) == INGOT_WRONG_ORDER && logits == NULL,
       "a reply without a prompt is refused: %s", ingot_error_message(r->model));
    OK(rig_answers(r), "a reply comes after a prompt");
}

static struct {
    struct rig *rig;
    unsigned n, n_wrong;
} inner;

/* Calls every function of the model from inside one of its callbacks. */
static bool call_again(void *context, const char *text, size_t bytes)
{
    struct rig *r = inner.rig;
    struct ingot_model_info info;
    struct ingot_turn turn = { .text = text, .text_bytes = bytes };
    const uint32_t *ids;
    const float *logits;
    uint32_t id = 5;
    size_t n;

    (void)context;
    inner.n_wrong += ingot_generate(r->session, NULL, NULL, NULL, NULL) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_prompt(r->session, text, bytes) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_prompt_turn(r->session, &turn) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_append(r->session, &id, 1) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_cut(r->session, 1) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_logits(r->session, &logits) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_tokens(r->session, &ids, &n) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_tokenize(r->session, text, bytes, true, &id, 1, &n) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_session_clear(r->session) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_close(r->model) != INGOT_WRONG_ORDER;
    inner.n_wrong += ingot_model_describe(r->model, &info) != INGOT_OK;
    inner.n++;
    return rig_say(r, text, bytes);
}

static void test_callbacks(struct rig *r)
{
    struct ingot_generate_params p = rig_greedy();

    inner.rig = r;
    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    r->said_bytes = 0;
    OK(ingot_generate(r->session, &p, call_again, NULL, NULL) == INGOT_OK && inner.n > 3 &&
           inner.n_wrong == 0 && strcmp(r->said, RIG_ANSWER) == 0,
       "calls from a callback do nothing: %s", r->said);
}

/* ---- arguments ------------------------------------------------------------------------------ */

static void test_nulls(struct rig *r)
{
    struct ingot_model_info info;
    struct ingot_session *session = r->session;
    struct ingot_turn turn = { .text = NULL, .text_bytes = 3 };
    const uint32_t *ids;
    const float *logits;
    uint64_t hash;
    uint32_t id, positions;
    size_t n;
    enum ingot_error e[] = {
        ingot_load(NULL),
        ingot_close(NULL),
        ingot_model_describe(NULL, &info),
        ingot_model_describe(r->model, NULL),
        ingot_session_begin(NULL, &session),
        ingot_session_begin(r->model, NULL),
        ingot_session_clear(NULL),
        ingot_prompt(NULL, "", 0),
        ingot_prompt(r->session, NULL, 1),
        ingot_prompt_turn(NULL, &turn),
        ingot_prompt_turn(r->session, NULL),
        ingot_prompt_turn(r->session, &turn),
        ingot_generate(NULL, NULL, NULL, NULL, NULL),
        ingot_tokenize(NULL, "", 0, false, &id, 1, &n),
        ingot_tokenize(r->session, NULL, 1, false, &id, 1, &n),
        ingot_tokenize(r->session, "a", 1, false, NULL, 1, &n),
        ingot_tokenize(r->session, "a", 1, false, &id, 1, NULL),
        ingot_tokens(NULL, &ids, &n),
        ingot_tokens(r->session, NULL, &n),
        ingot_tokens(r->session, &ids, NULL),
        ingot_append(NULL, &id, 1),
        ingot_append(r->session, NULL, 1),
        ingot_cut(NULL, 0),
        ingot_logits(NULL, &logits),
        ingot_logits(r->session, NULL),
        ingot_logits_hash(NULL, &hash, &positions),
        ingot_logits_hash(r->session, NULL, &positions),
        ingot_logits_hash(r->session, &hash, NULL),
    };
    unsigned n_wrong = 0;

    for (size_t i = 0; i < sizeof e / sizeof e[0]; i++)
        n_wrong += e[i] != INGOT_BAD_ARGUMENT;
    ingot_generate_default(NULL);
    OK(n_wrong == 0 && ingot_error_message(NULL)[0] == '\0' &&
           ingot_token_text(NULL, 0, 0, NULL)[0] == '\0' &&
           ingot_token_text(NULL, 0, 0, &n)[0] == '\0',
       "NULL is refused in %zu places", sizeof e / sizeof e[0]);
}

static void test_params(struct rig *r)
{
    static const char long_stop[] =
        "0123456789012345678901234567890123456789012345678901234567890123";
    struct ingot_generate_params p;
    unsigned n_wrong = 0;

#define WRONG(member, value) \
    ingot_generate_default(&p); \
    p.member = value; \
    n_wrong += rig_generate(r, &p, NULL) != INGOT_BAD_ARGUMENT
    WRONG(temp, -0.1f);
    WRONG(temp, NAN);
    WRONG(temp, INFINITY);
    WRONG(top_p, 0);
    WRONG(top_p, 1.1f);
    WRONG(min_p, -1);
    WRONG(min_p, NAN);
    WRONG(repeat, 0);
    WRONG(repeat, INFINITY);
    WRONG(n_stops, INGOT_MOST_STOPS + 1);
    WRONG(n_stops, 1);
#undef WRONG
    ingot_generate_default(&p);
    p.n_stops = 1;
    p.stops[0] = "";
    n_wrong += rig_generate(r, &p, NULL) != INGOT_BAD_ARGUMENT;
    p.stops[0] = long_stop;
    n_wrong += rig_generate(r, &p, NULL) != INGOT_BAD_ARGUMENT;
    OK(n_wrong == 0, "parameters out of bounds are refused: %s", ingot_error_message(r->model));
}

static void test_lengths(struct rig *r)
{
    static char text[INGOT_MOST_TEXT + 1];
    uint32_t ids[600] = { 0 }, few[2];
    struct ingot_turn turn = { .text = text, .text_bytes = sizeof text };
    size_t before = rig_length(r), n = 7;

    memset(text, 'x', sizeof text);
    OK(ingot_prompt(r->session, text, sizeof text) == INGOT_TOO_LONG &&
           ingot_prompt_turn(r->session, &turn) == INGOT_TOO_LONG && rig_length(r) == before,
       "a text longer than the longest is refused: %s", ingot_error_message(r->model));
    OK(ingot_prompt(r->session, text, 4000) == INGOT_TOO_LONG && rig_length(r) == before,
       "a text longer than the context is refused: %s", ingot_error_message(r->model));
    OK(ingot_append(r->session, ids, 600) == INGOT_TOO_LONG && rig_length(r) == before,
       "more tokens than the context has are refused: %s", ingot_error_message(r->model));
    OK(ingot_tokenize(r->session, text, 100, true, few, 2, &n) == INGOT_TOO_LONG && n == 0,
       "more tokens than there is room for are refused");
    ids[1] = 0xffffffff;
    OK(ingot_append(r->session, ids, 2) == INGOT_BAD_ARGUMENT && rig_length(r) == before,
       "an id that is not a token's is refused: %s", ingot_error_message(r->model));
    OK(ingot_cut(r->session, before + 5) == INGOT_OK && rig_length(r) == before,
       "a cut after the end changes nothing");
    OK(ingot_session_clear(r->session) == INGOT_OK &&
           ingot_append(r->session, ids, 1) == INGOT_OK && rig_length(r) == 1 &&
           ingot_append(r->session, NULL, 0) == INGOT_OK,
       "a right call works");
}

static void test_closed(struct rig *r)
{
    struct ingot_model_info info;
    const float *logits;

    OK(ingot_close(r->model) == INGOT_OK && ingot_close(r->model) == INGOT_WRONG_ORDER &&
           ingot_load(r->model) == INGOT_WRONG_ORDER &&
           ingot_model_describe(r->model, &info) == INGOT_WRONG_ORDER &&
           ingot_session_begin(r->model, &r->session) == INGOT_WRONG_ORDER &&
           ingot_error_message(r->model)[0] == '\0',
       "a closed model is refused");
    r->session = NULL;
    (void)rig_start(r);
    (void)ingot_close(r->model);
    OK(ingot_logits(r->session, &logits) == INGOT_WRONG_ORDER &&
           ingot_prompt(r->session, "a", 1) == INGOT_WRONG_ORDER &&
           ingot_session_clear(r->session) == INGOT_WRONG_ORDER,
       "a call of a closed model's session is an error");
    r->model = NULL;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static void test_no_template(void)
{
    char path[64] = "/tmp/ingot-library-XXXXXX", error_message[256];
    struct pack_options o = { .input = "tiny", .output = path, .quiet = true };
    struct rig r;
    int fd = mkstemp(path);

    if (fd < 0 || close(fd) != 0 ||
        pack_synth(&o, 1, error_message, sizeof error_message) != ERR_OK) {
        printf("Bail out! no made-up model\n");
        exit(1);
    }
    rig_init(&r, path);
    unlink(path);
    rig_memory(&r, 2 * RIG_MEMORY);
    OK(rig_start(&r) == INGOT_OK && rig_turn(&r, "Hello") == INGOT_NO_TEMPLATE &&
           ingot_prompt(r.session, "Hello", 5) == INGOT_OK,
       "a turn of a model without a template is refused: %s", ingot_error_message(r.model));
    rig_end(&r);
}

static void test_texts(void)
{
    unsigned n_same = 0;

    for (int e = INGOT_NO_TEMPLATE; e < INGOT_OK; e++)
        n_same += strcmp(ingot_error_text((enum ingot_error)e), ingot_error_text(INGOT_OK)) == 0 ||
                  strcmp(ingot_error_text((enum ingot_error)e),
                         ingot_error_text((enum ingot_error) - 99)) == 0;
    OK(n_same == 0 && ingot_error_text((enum ingot_error)1) != NULL && ingot_version()[0] != '\0',
       "every error has a text");
}

int main(void)
{
    struct rig r;

    rig_init(&r, DEMO);
    rig_memory(&r, RIG_MEMORY);
    test_texts();
    test_setups(&r);
    test_files(&r);
    test_loading(&r);
    test_all_sizes(&r);
    test_streaming(&r);
    test_order(&r);
    test_callbacks(&r);
    test_nulls(&r);
    test_params(&r);
    test_lengths(&r);
    test_closed(&r);
    OK(rig_guarded(&r) && r.n_bad_reads == 0, "nothing was written outside the memory");
    rig_end(&r);
    test_no_template();
    return tap_done();
}
