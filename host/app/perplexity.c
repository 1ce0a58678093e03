#include "host/app/perplexity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/app/host_text.h"

#include "runtime/text/plural.h"

enum { PROGRESS_COLUMNS = 60, LEAST_WINDOW = 3 /* one of its tokens is scored */ };

/* Scores a position in the second half of a window, as llama.cpp does. */
static void score_position(void *context, uint32_t position, const float *logits)
{
    struct perplexity *p = context;
    double max = logits[0];
    double total = 0.0;
    double loss;

    if (position < p->n / 2 || position + 1 >= p->n) {
        return;
    }
    for (uint32_t i = 1; i < p->vocab; i++) {
        max = fmax(max, (double)logits[i]);
    }
    for (uint32_t i = 0; i < p->vocab; i++) {
        total += exp(logits[i] - max);
    }
    loss = log(total) + max - logits[p->window[position + 1]];
    p->sum += loss;
    p->sum_squares += loss * loss;
    p->count++;
}

static bool measure_windows(struct perplexity *p, struct session *s, struct text *t, bool quiet)
{
    const struct ingot_tokenizer *head = s->model->tokenizer.head;
    size_t n_windows = t->n_ids / p->n;

    if (n_windows == 0) {
        fprintf(stderr, "ingot: the text has %zu %s, and a window needs %u: take a longer text%s\n",
                t->n_ids, plural(t->n_ids, "token", "tokens"), (unsigned)p->n, p->or_else);
        return false;
    }
    for (size_t i = 0; i < n_windows; i++) {
        if ((head->flags & INGOT_ADD_BOS) != 0) {
            t->ids[i * p->n] = head->bos;
        }
        p->window = t->ids + i * p->n;
        session_clear(s);
        if (session_append_visit(s, p->window, p->n, score_position, p) != ERR_OK) {
            fprintf(stderr, "ingot: %s\n", s->error_message);
            return false;
        }
        if (!quiet && isatty(2)) {
            fprintf(stderr, "\rperplexity: window %zu of %zu ", i + 1, n_windows);
        }
    }
    if (!quiet && isatty(2)) {
        fprintf(stderr, "\r%*s", PROGRESS_COLUMNS, "");
        fputs("\r", stderr); /* moves back to the start of the line */
    }
    if (p->count < 2) { /* the deviation needs two */
        fprintf(stderr, "ingot: only one token is scored in a window of %u: take a longer text\n",
                (unsigned)p->n);
        return false;
    }
    return true;
}

/* Refuse a file that is not a text, such as an importance matrix of llama.cpp. */
static bool check_text(const struct text *t, const char *path)
{
    const char *zero = t->n_bytes != 0 ? memchr(t->bytes, 0, t->n_bytes) : NULL;

    if (zero != NULL) {
        fprintf(stderr,
                "ingot: %s: is not a text, because its byte %td is 0: choose another file\n", path,
                zero - t->bytes + 1);
    }
    return zero == NULL;
}

bool perplexity_measure(struct perplexity *p, struct session *s, const char *path, bool quiet)
{
    struct text t = { 0 };
    FILE *in;
    bool good;

    if (p->n < LEAST_WINDOW) {
        fprintf(stderr, "ingot: --ctx %u is too short: a window needs at least %u tokens\n",
                (unsigned)p->n, (unsigned)LEAST_WINDOW);
        return false;
    }
    in = fopen(path, "rb");
    if (in == NULL) {
        fprintf(stderr, "ingot: %s: cannot be opened\n", path);
        return false;
    }
    p->vocab = s->model->image.header->params.vocab;
    good = text_read(&t, in, path) && check_text(&t, path) &&
           text_tokenize(&t, &s->model->tokenizer, TOKENIZER_BOS) &&
           measure_windows(p, s, &t, quiet);
    fclose(in);
    text_free(&t);
    return good;
}

double perplexity_value(const struct perplexity *p, double *deviation)
{
    double n = (double)p->count, mean = p->sum / n;

    *deviation = exp(mean) * sqrt((p->sum_squares / n - mean * mean) / (n - 1));
    return exp(mean);
}
