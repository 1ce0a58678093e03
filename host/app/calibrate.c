#include "host/app/calibrate.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board/host/host_board.h"
#include "flash_image/output/temporary.h"
#include "host/app/host_app.h"
#include "host/app/perplexity.h"

/* The four inputs that a layer's matrices share; the head's input is separate. */
enum input { INPUT_QKV, INPUT_OUT, INPUT_GATE_UP, INPUT_DOWN, INPUTS };

/* Results of the process that runs the model, in shared memory. */
struct result {
    bool good;
    double perplexity;
    double sums[]; /* sums of squares of all layers' inputs in order, then of the head's input */
};

static struct run {
    struct host_app host;
    struct kernels plain; /* kernels chosen for this model; the counting kernels call them */
    struct result *result;
} run;

static size_t input_columns(const struct ingot_params *p, enum input input)
{
    switch (input) {
    case INPUT_OUT: return (size_t)p->n_heads * p->head_dim;
    case INPUT_DOWN: return p->hidden;
    default: return p->dim;
    }
}

/* Returns the number of columns of those inputs of a layer that precede this input. */
static size_t columns_before(const struct ingot_params *p, enum input input)
{
    size_t columns = 0;

    for (int i = 0; i < (int)input; i++) {
        columns += input_columns(p, (enum input)i);
    }
    return columns;
}

/* Returns the offset of an input's sums; layer n_layers stands for the head. */
static size_t input_offset(const struct ingot_params *p, unsigned layer, enum input input)
{
    size_t at = layer * columns_before(p, INPUTS);

    if (layer == p->n_layers) {
        return at;
    }
    return at + columns_before(p, input);
}

static size_t all_columns(const struct ingot_params *p)
{
    return input_offset(p, p->n_layers, INPUT_QKV) + p->dim;
}

static bool read_params(const char *path, struct ingot_params *p)
{
    struct ingot_header header;
    FILE *in = fopen(path, "rb");
    bool good = in != NULL && fread(&header, sizeof header, 1, in) == 1;

    if (in != NULL) {
        fclose(in);
    }
    *p = header.params;
    return good;
}

/* ---- runs in the model's own process ------------------------------------------------------ */

static const enum ingot_role roles[INPUTS] = { INGOT_ATTN_Q, INGOT_ATTN_OUT, INGOT_FFN_UP,
                                               INGOT_FFN_DOWN };

/* True if every layer has these inputs; inputs of other matrices are not counted. */
static bool has_inputs(const struct image *img)
{
    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        bool has = (image_layer(img, i)->features & INGOT_LATENT_KV) == 0;

        for (int k = 0; k < INPUTS; k++) {
            has = has && image_tensor(img, roles[k], i) != NULL;
        }
        if (!has) {
            fprintf(stderr,
                    "ingot: --calibrate needs attention with its own keys and a dense feed-forward "
                    "in each layer, but layer %u lacks one of them: pack without --calibrate\n",
                    (unsigned)i);
            return false;
        }
    }
    return true;
}

/* Returns the sums for the input that a matrix at w reads. Only the core with the matrix's first
 * row adds to them, because all cores see the same input. Returns NULL on the other cores, and for
 * matrices whose inputs are not counted. */
static double *sums_of(const void *w, size_t *columns)
{
    const struct transformer *t = &run.host.app.target.model.transformer;
    const struct ingot_params *p = &t->image->header->params;

    for (int i = 0; i < INPUTS; i++) {
        const struct ingot_tensor *entry = image_tensor(t->image, roles[i], t->layer);

        if (t->segment != NULL && w == t->segment + entry->offset) {
            *columns = entry->cols;
            return run.result->sums + input_offset(p, t->layer, (enum input)i);
        }
    }
    *columns = p->dim;
    if (w != t->rows || t->first_row != 0) {
        return NULL;
    }
    return run.result->sums + input_offset(p, p->n_layers, INPUT_QKV);
}

static void count(const void *w, const float *x, size_t n_tokens, size_t stride)
{
    size_t columns;
    double *sums = sums_of(w, &columns);

    for (size_t t = 0; sums != NULL && t < n_tokens; t++) {
        for (size_t c = 0; c < columns; c++) {
            sums[c] += (double)x[t * stride + c] * (double)x[t * stride + c];
        }
    }
}

static void count_gemv(float *restrict y, const void *restrict w, const float *restrict x,
                       size_t rows, size_t cols, size_t ahead)
{
    count(w, x, 1, cols);
    run.plain.gemv_f32_f16_f32(y, w, x, rows, cols, ahead);
}

static void count_gemm(float *restrict y, const void *restrict w, const float *restrict x,
                       const struct gemm_shape *restrict shape)
{
    count(w, x, shape->n_tokens, shape->x_stride);
    run.plain.gemm_f32_f16_f32(y, w, x, shape);
}

/* Runs the text through the model. If `counts` is true, the model's matrices are F16 and their
 * inputs are counted. */
static bool run_model(const char *path, const char *text, bool counts)
{
    struct perplexity p = { .or_else = "" };
    static struct host_args args;
    struct ingot_params params;
    double deviation;

    host_args_init(&args, "pack");
    args.model = path;
    args.quiet = true;
    if (!read_params(path, &params)) {
        fprintf(stderr, "ingot: %s: cannot be read\n", path);
        return false;
    }
    p.n = min_u32(CALIBRATE_WINDOW, params.context); /* some models were trained for less */
    args.options.load.ctx = p.n;
    if (!host_app_plan(&run.host, &args)) {
        return false;
    }
    run.plain = run.host.app.kernels;
    if (counts) {
        run.host.app.kernels.gemv_f32_f16_f32 = count_gemv;
        run.host.app.kernels.gemm_f32_f16_f32 = count_gemm;
    }
    if ((counts && !has_inputs(&run.host.app.target.model.image)) || !host_app_load(&run.host) ||
        !perplexity_measure(&p, &run.host.app.target.session, text, false)) {
        return false;
    }
    run.result->perplexity = perplexity_value(&p, &deviation);
    run.result->good = true;
    return true;
}

/* Runs the model in a separate process, because a process has room for only one model. */
static bool run_apart(const char *path, const char *text, bool counts)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    fflush(stderr);
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG,
                    SIGKILL); /* if a signal ends the parent, this process must end too */
        _exit(run_model(path, text, counts) ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fputs("ingot: cannot start a process for the model\n", stderr);
        return false;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !run.result->good) {
        return false; /* the child has printed the error */
    }
    return true;
}

static bool take_result(size_t bytes)
{
    run.result = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.result == MAP_FAILED) {
        fputs("ingot: out of memory\n", stderr);
        return false;
    }
    return true;
}

bool calibrate_perplexity(const char *path, const char *text, double *perplexity)
{
    *perplexity = 0;
    if (!take_result(sizeof *run.result) || !run_apart(path, text, false)) {
        return false;
    }
    *perplexity = run.result->perplexity;
    return true;
}

/* ---- in the packer's process ----------------------------------------------------------------- */

/* Computes each column's root mean square, divided by the root mean square of all columns. (Mean
 * squares overfit the text and do not improve logits.) A column that was always 0 still counts a
 * little. */
static void norm_columns(float *out, const double *sums, size_t n)
{
    double mean = 0;

    for (size_t i = 0; i < n; i++) {
        mean += sums[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = 1.0f;
        if (mean > 0) {
            out[i] = (float)(sqrt(sums[i] / mean) + 0.01);
        }
    }
}

static void norm_input(struct calibration *c, unsigned layer, enum input input)
{
    size_t at = input_offset(&c->params, layer, input);

    norm_columns(c->columns + at, run.result->sums + at, input_columns(&c->params, input));
}

static bool keep_columns(struct calibration *c)
{
    const struct ingot_params *p = &c->params;

    c->columns = malloc(all_columns(p) * sizeof *c->columns);
    if (c->columns == NULL) {
        fputs("ingot: out of memory\n", stderr);
        return false;
    }
    for (unsigned layer = 0; layer < p->n_layers; layer++) {
        for (int i = 0; i < INPUTS; i++) {
            norm_input(c, layer, (enum input)i);
        }
    }
    norm_input(c, p->n_layers, INPUT_QKV); /* the head, whose input is as wide as INPUT_QKV */
    return true;
}

bool calibrate_run(struct calibration *c, const struct pack_options *o, const char *text)
{
    struct pack_options floats = { .input = o->input,
                                   .tokenizer = o->tokenizer,
                                   .template = "none",
                                   .type = INGOT_F16,
                                   .type_given = true,
                                   .quiet = true };
    char path[512], error_message[512];
    bool good;

    *c = (struct calibration){ .columns = NULL };
    if (pack_temporary(&floats, path, sizeof path, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    good = read_params(path, &c->params) &&
           take_result(sizeof *run.result + all_columns(&c->params) * sizeof(double)) &&
           run_apart(path, text, true) && keep_columns(c);
    if (good) {
        c->perplexity = run.result->perplexity;
    }
    temporary_remove(path);
    return good;
}

void calibrate_free(struct calibration *c)
{
    free(c->columns);
}

const float *calibrate_importance(void *calibration, enum ingot_role role, unsigned layer)
{
    const struct calibration *c = calibration;
    const struct ingot_params *p = &c->params;

    switch (role) {
    case INGOT_ATTN_Q:
    case INGOT_ATTN_K:
    case INGOT_ATTN_V: return c->columns + input_offset(p, layer, INPUT_QKV);
    case INGOT_ATTN_OUT: return c->columns + input_offset(p, layer, INPUT_OUT);
    case INGOT_FFN_GATE:
    case INGOT_FFN_UP: return c->columns + input_offset(p, layer, INPUT_GATE_UP);
    case INGOT_FFN_DOWN: return c->columns + input_offset(p, layer, INPUT_DOWN);
    case INGOT_TOKEN_EMBEDDING:
        if (!p->tied) {
            return NULL;
        }
        return c->columns + input_offset(p, p->n_layers, INPUT_QKV);
    case INGOT_OUTPUT: return c->columns + input_offset(p, p->n_layers, INPUT_QKV);
    default: return NULL;
    }
}
