/* Keys and values of trained models: how close every row of the table of formats brings them back.
 * tests/bench/kv_table.py reads the cosines. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/app/host_app.h"
#include "host/app/host_text.h"
#include "tests/unit/compute/kv_round_trip.h"
#include "tests/unit/tap.h"

enum { CONTEXT = 512, TEXT_BYTES = 6000, PATH_BYTES = 512 };

/* Mean cosines of a model, written by the process that runs it. */
struct result {
    bool good;
    uint32_t n; /* vectors */
    double keys[KV_N_NUMBERS], values[KV_N_NUMBERS];
};

static struct host_app host;
static struct result *result;

/* In the words of the demo model, which knows few others. */
static const char demo_story[] =
    "Once upon a time there was a little fox. He lived in a small house near the forest with his "
    "mother. One day the fox found a red ball in the garden. He wanted to play with it, but it was "
    "too big for him. A bear came and said, \"I can help you.\" Together they rolled the ball down the "
    "hill. The fox was very happy. He said, \"Thank you, you are my friend.\" Then they went home and "
    "ate some cake. The next day they met again at the river and told the rabbit about it. ";

/* Copies a tile's positions one after the other: keys, which are stored transposed, or values. */
static void take(float *x, const float *from, uint32_t d, bool keys)
{
    for (uint32_t i = 0; i < KV_TILE * d; i++) {
        x[i] = keys ? from[i % d * KV_TILE + i / d] : from[i];
    }
}

static void add_tile(uint32_t layer, uint32_t head, uint32_t tile)
{
    static float x[KV_TILE * ROUND_TRIP_MOST];
    const struct kv_cache *kv = &host.app.target.session.kv;
    const struct kernels *k = &host.app.kernels;

    for (unsigned type = 0; type < KV_N_NUMBERS; type++) {
        const struct kv_format *f = &kv_formats[type];

        if (f->name == NULL) {
            continue;
        }
        take(x, kv_cache_keys(kv, layer, head, tile).data, kv->layers[layer].head_dim, true);
        result->keys[type] += round_trip_cosine(k, f, x, KV_TILE, kv->layers[layer].head_dim, true);
        take(x, kv_cache_values(kv, layer, head, tile).data, kv->layers[layer].value_dim, false);
        result->values[type] += round_trip_cosine(k, f, x, KV_TILE, kv->layers[layer].value_dim,
                                                  false);
    }
    result->n++;
}

static bool read_text(struct text *t, const char *path)
{
    FILE *in = path != NULL ? fopen(path, "rb") : NULL;

    if (path == NULL) {
        return text_copy(t, demo_story);
    }
    if (in == NULL || !text_read(t, in, path)) {
        return false;
    }
    fclose(in);
    t->n_bytes = t->n_bytes < TEXT_BYTES ? t->n_bytes : TEXT_BYTES;
    return true;
}

/* Whole tiles of the text's first tokens. */
static bool run_model(const char *model, const char *path)
{
    struct session *s = &host.app.target.session;
    static struct host_args args;
    struct text t = { 0 };
    uint32_t n;

    host_args_init(&args, "logits");
    args.model = model;
    args.quiet = true;
    args.options.load.ctx = CONTEXT;
    args.options.load.kv.types = kv_both(KV_F32);
    if (!read_text(&t, path) || !host_app_plan(&host, &args) || !host_app_load(&host) ||
        !text_tokenize(&t, &host.app.target.model.tokenizer, TOKENIZER_BOS)) {
        return false;
    }
    n = (uint32_t)(t.n_ids < CONTEXT ? t.n_ids : CONTEXT) / KV_TILE;
    if (session_append(s, t.ids, (size_t)n * KV_TILE, NULL) != ERR_OK) {
        return false;
    }
    for (uint32_t layer = 0; layer < s->kv.n_layers; layer++) {
        for (uint32_t i = 0; i < n * s->kv.layers[layer].n_kv_heads; i++) {
            add_tile(layer, i / n, i % n);
        }
    }
    text_free(&t);
    return result->n > 0;
}

/* Runs in a process of its own, which has room for one model. */
static bool run_apart(const char *model, const char *path)
{
    int status = 0;
    pid_t child;

    memset(result, 0, sizeof *result);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        _exit(run_model(model, path) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* How far a model may be below the gate for normal numbers. */
#define REAL .001

static void test_model(const char *name, const char *model, const char *path)
{
    bool good = run_apart(model, path);

    OK(good, "%s: %u tiles of keys and values are measured", name, result->n);
    for (unsigned type = 0; good && type < KV_N_NUMBERS; type++) {
        const struct kv_format *f = &kv_formats[type];
        double keys = result->keys[type] / result->n, values = result->values[type] / result->n;

        if (f->name != NULL) {
            OK(keys >= (double)f->cosine - REAL && values >= (double)f->cosine - REAL,
               "%s %s: the mean cosine of keys is %.6f, of values %.6f", name, f->name, keys,
               values);
        }
    }
}

static void test_asset(const char *name, const char *model)
{
    const char *assets = getenv("INGOT_ASSETS");
    char path[PATH_BYTES], text[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", assets != NULL ? assets : "../shared/models", model);
    snprintf(text, sizeof text, "%s/text/tinystories-eval-64K.txt",
             assets != NULL ? assets : "../shared/models");
    if (access(path, R_OK) != 0 || access(text, R_OK) != 0) {
        OK(true, "%s # SKIP no %s", name, path);
        return;
    }
    test_model(name, path, text);
}

int main(void)
{
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    test_model("demo", "models/demo-q8_0.ingot", NULL);
    test_asset("stories260K", "gguf/stories260K.gguf");
    test_asset("TinyStories-656K", "hf/TinyStories-656K");
    return tap_done();
}
