#include "flash_image/pack/pack_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/image/image.h"

enum { BAR = 32 };

#define LEAST_LOSS 1e-6 /* a loss is printed if its NMSE is at least this */

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void pack_report_begin(struct pack_report *r, const struct pack_options *o, uint64_t total_bytes)
{
    *r = (struct pack_report){ .options = o, .total_bytes = total_bytes };
    clock_gettime(CLOCK_MONOTONIC, &r->started);
    if (o->report) {
        printf("%-8s %-18s %15s %-7s %-6s %5s %8s %8s  %s\n", "layer", "tensor", "shape", "from",
               "to", "bits", "NMSE", "cosine", "remark");
    }
}

struct rows_loss *pack_report_loss(struct pack_report *r)
{
    if (r->options->quiet && !r->options->report) {
        return NULL;
    }
    return &r->tensor;
}

void pack_report_progress(struct pack_report *r, uint64_t done)
{
    double seconds = seconds_since(&r->started);
    double part = (double)done / (double)max_u64(r->total_bytes, 1);
    char bar[BAR + 1] = "";

    if (r->options->quiet || !isatty(STDERR_FILENO) || seconds < 1 || seconds < r->shown + 0.25) {
        return;
    }
    r->shown = seconds;
    memset(bar, '.', BAR);
    for (int i = 0; i < BAR && (double)i < part * BAR; i++) {
        bar[i] = '#';
    }
    r->progress_width = fprintf(stderr, "\rpacking [%s] %3.0f %% of %.0f MB, %.0f MB/s ", bar,
                                100 * part, (double)r->total_bytes * 1e-6,
                                (double)done * 1e-6 / seconds);
    fflush(stderr);
}

static double nmse(const struct rows_loss *l)
{
    if (l->squares > 0) {
        return l->errors / l->squares;
    }
    return 0;
}

static double cosine(const struct rows_loss *l)
{
    if (l->squares > 0 && l->stored > 0) {
        return l->products / sqrt(l->squares * l->stored);
    }
    return 1; /* zeros, or no loss was measured */
}

static void print_loss(enum rows_way way, const struct rows_loss *loss, const char *why)
{
    static const char *const ways[] = {
        [ROWS_COPIED] = "copied",
        [ROWS_REQUANTIZED] = "the same values in more bits",
        [ROWS_RESCALED] = "scales rounded to 16 bits",
        [ROWS_QUANTIZED] = "",
    };
    const char *comma = "";

    if (way == ROWS_RESCALED) {
        printf(" %8s %8s", "<1e-6", "1");
    } else {
        printf(" %8.3g %8.6g", nmse(loss), cosine(loss));
    }
    if (ways[way][0] != '\0' && why[0] != '\0') {
        comma = ", ";
    }
    if (ways[way][0] != '\0' || why[0] != '\0') {
        printf("  %s%s%s", ways[way], comma, why);
    }
    putchar('\n');
}

static void add_to_all(struct pack_report *r)
{
    r->all.squares += r->tensor.squares;
    r->all.errors += r->tensor.errors;
    r->all.products += r->tensor.products;
    r->all.stored += r->tensor.stored;
    r->tensor = (struct rows_loss){ .squares = 0 };
}

void pack_report_tensor(struct pack_report *r, const struct source_tensor *t,
                        const struct ingot_tensor *entry, const char *why)
{
    char layer[16] = "-", shape[32];
    bool made_up = t->type == SOURCE_SYNTH && !r->options->report;

    if (!image_role_is_matrix((enum ingot_role)entry->role) || made_up) {
        r->tensor = (struct rows_loss){ .squares = 0 };
        return;
    }
    if (!r->options->report) {
        add_to_all(r);
        return;
    }
    if (entry->layer != INGOT_NO_LAYER) {
        snprintf(layer, sizeof layer, "%u", entry->layer);
    }
    snprintf(shape, sizeof shape, "%u x %u", t->rows, t->cols);
    printf("%-8s %-18s %15s %-7s %-6s %5.2f", layer, image_role_name(entry->role), shape,
           source_type_name(t->type), image_type_name(entry->type),
           8.0 * (double)entry->bytes / ((double)t->rows * t->cols));
    print_loss(rows_way(t->type, (enum ingot_type)entry->type), &r->tensor, why);
    add_to_all(r);
}

void pack_report_end(struct pack_report *r, bool written)
{
    if (r->progress_width != 0) {
        fprintf(stderr, "\r%*s", r->progress_width, "");
        fputs("\r", stderr); /* remove the progress from the terminal */
    }
    if (r->options->report && r->all.squares > 0) {
        printf("NMSE of all that was quantized: %.3g, cosine %.6g\n", nmse(&r->all),
               cosine(&r->all));
    }
    if (written && !r->options->report && nmse(&r->all) > LEAST_LOSS) {
        fprintf(
            stderr,
            "the quantized weights differ from the file's by an NMSE of %.2g (--report lists every "
            "matrix; docs/QUALITY.md says how much each type loses on two real models)\n",
            nmse(&r->all));
    }
}
