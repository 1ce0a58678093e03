#include "host/plan/plan_board.h"

#include <stdio.h>
#include <stdlib.h>

#include "flash_image/pack/ingot_file.h"
#include "flash_image/output/temporary.h"
#include "flash_image/pack/pack.h"
#include "host/plan/board_plan.h"
#include "host/plan/plan_fit.h"
#include "host/app/host_files.h"
#include "host/cli/commands.h"
#include "runtime/chat/report.h"
#include "runtime/text/format_text.h"

enum { SIZES_BYTES = 80, ERROR_MESSAGE_BYTES = 512 };

/* ---- what is asked --------------------------------------------------------------------------- */

static int refuse_board(const struct host_args *args)
{
    size_t n;
    const struct board_facts *b = board_facts_all(&n);

    fprintf(stderr, "ingot plan: --board %s: there is no such board; there are", args->board);
    for (size_t i = 0; i < n; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", b[i].name);
        if (b[i].also != NULL) {
            fprintf(stderr, " (or %s)", b[i].also);
        }
    }
    fputc('\n', stderr);
    return EXIT_USAGE;
}

/* Return a given option that is about this computer, or about something that is not predicted for a
 * board; NULL: none. */
static const char *needless_option(const struct host_args *a)
{
    const struct options *o = &a->options;
    const struct {
        bool given;
        const char *name;
    } options[] = {
        { a->macs, "--macs" },
        { a->in_place, "--mmap" },
        { a->kv_file != NULL, "--kv-file" },
        { a->chunk != 0, "--chunk" },
        { o->load.draft[0] != '\0', "--draft" },
        { options_given(o, OPTION_SPEC), "--spec" },
        { o->machine.cores != 0, "--threads" },
        { o->machine.isa[0] != '\0', "--isa" },
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].given) {
            return options[i].name;
        }
    }
    return NULL;
}

static int check_args(const struct command *c, const struct host_args *args,
                      const struct board_facts *b)
{
    const char *needless = needless_option(args);
    char sizes[SIZES_BYTES], size[FORMAT_NUMBER_BYTES];

    if (needless != NULL) {
        return command_refuse(c, needless, "cannot be combined with --board");
    }
    if (args->ram != 0 && !board_facts_has(b, args->ram)) {
        board_facts_sizes(b, sizes, sizeof sizes);
        fprintf(stderr, "ingot plan: --ram %s: the %s (%s) is sold with %s\n",
                format_bytes(size, args->ram), b->name, b->title, sizes);
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static const char *rate_text(char text[FORMAT_NUMBER_BYTES], uint64_t rate)
{
    char number[FORMAT_NUMBER_BYTES];

    if (rate >= 1000000000) {
        format_text(text, FORMAT_NUMBER_BYTES, "%s GB/s",
                    format_ratio(number, rate, 1000000000, 3));
    } else {
        format_text(text, FORMAT_NUMBER_BYTES, "%s MB/s", format_ratio(number, rate, 1000000, 1));
    }
    return text;
}

/* Print the given rate in bytes per second or, if it is 0, the published rate with its source
 * `what`. */
static void print_rate(const char *label, uint64_t given, uint64_t published, const char *what)
{
    char rate[FORMAT_NUMBER_BYTES];

    if (given != 0) {
        printf("%-11s %s, as given\n", label, rate_text(rate, given));
    } else if (published != 0) {
        printf("%-11s %s, published: %s\n", label, rate_text(rate, published), what);
    } else {
        printf("%-11s not known, because the board is an emulator\n", label);
    }
}

static void print_board(const struct board_request *r)
{
    char sizes[SIZES_BYTES], size[FORMAT_NUMBER_BYTES];

    board_facts_sizes(r->board, sizes, sizeof sizes);
    printf("board       %s, %s, %s of RAM", r->board->name, r->board->title,
           format_bytes(size, r->ram));
    if (r->board->ram_mib[1] != 0) {
        printf(" (--ram chooses among %s)", sizes);
    }
    putchar('\n');
    print_rate("memory", r->memory_rate, r->board->memory_mb * 1000000ull, r->board->memory);
    print_rate("card", r->card_rate, r->board->card_kb * 1000ull, r->board->card);
}

static void print_plan(const struct plan *plan, const struct board_request *r)
{
    char text[192], head[BOARD_PLAN_HEAD_BYTES];
    char bytes[FORMAT_NUMBER_BYTES], rate[FORMAT_NUMBER_BYTES];

    printf("weights     %s, context %u, %s of memory in all\n",
           plan_residency_text(plan->residency), plan->context,
           format_bytes(bytes, board_plan_memory(plan, r->image)));
    if (plan->residency == PLAN_STREAMED) {
        printf("            %u of %u layers stay%s; %s read for each token\n",
               plan->layers.n_pinned, r->image->header->params.n_layers,
               board_plan_head(plan, r->image, head),
               format_bytes(bytes, board_plan_read(plan, r->image)));
    }
    if (plan->experts.n_slots != 0) {
        report_experts_plan(plan, r->image, text, sizeof text);
        printf("experts     %s\n", text);
    }
    if (plan->advice[0] != '\0') {
        printf("            %s\n", plan->advice);
    }
    if (plan->prediction.decode_ns != 0) {
        printf("roofline    %s tok/s: the most that these rates allow, with one token per pass\n",
               format_ratio(rate, 1000000000u, plan->prediction.decode_ns,
                            board_rate_decimals(plan->prediction.decode_ns)));
    } else {
        puts("roofline    none without rates; --mem-bw and --card give them");
    }
}

static enum err plan_other(void *context, const struct image *image, struct plan *plan)
{
    struct board_request other = *(const struct board_request *)context;

    other.image = image;
    return board_plan(plan, &other);
}

static int print_file(const struct host_args *args, const char *path, struct board_request *r)
{
    static struct plan_use use;
    char error_message[ERROR_MESSAGE_BYTES];
    struct ingot_file f;
    struct plan *plan;
    int status = EXIT_FAILED;

    if (ingot_file_open(&f, path, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return EXIT_FAILED;
    }
    plan = malloc(sizeof *plan);
    r->image = &f.image;
    if (host_files_read_use(path, &f.image, &use)) {
        r->use = &use;
    }
    if (plan == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
    } else if (board_plan(plan, r) != ERR_OK) {
        print_board(r);
        fflush(stdout);
        fprintf(stderr, "ingot: the model does not fit: %s\n", plan->error_message);
    } else {
        print_board(r);
        print_plan(plan, r);
        status = EXIT_FINE;
    }
    if (status == EXIT_FINE && args->fit) {
        status = exit_status(!plan_fit_print(&f.image, plan_other, r));
    }
    free(plan);
    ingot_file_close(&f);
    return status;
}

/* Print the plan of a model; other formats are packed into a temporary file first. */
static int print_model(const struct host_args *args, struct board_request *r)
{
    struct pack_options pack = { .input = args->model,
                                 .tokenizer = args->tokenizer,
                                 .quiet = args->quiet };
    char path[ERROR_MESSAGE_BYTES], error_message[ERROR_MESSAGE_BYTES];
    int status;
    enum err e;

    if (pack_is_ingot(args->model, &e)) {
        return print_file(args, args->model, r);
    }
    if (pack_temporary(&pack, path, sizeof path, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return EXIT_FAILED;
    }
    status = print_file(args, path, r);
    temporary_remove(path);
    return status;
}

int plan_board_print(const struct command *c, const struct host_args *args)
{
    const struct board_facts *b = board_facts_find(args->board);
    const struct options_load *load = &args->options.load;
    struct board_request r = { .board = b,
                               .ram = args->ram,
                               .memory_rate = args->memory_rate,
                               .card_rate = args->card_rate,
                               .limits.weights = (size_t)load->mem,
                               .limits.context = load->ctx,
                               .limits.kv = load->kv.types,
                               .limits.kv_card = load->kv.card };
    int status;

    if (b == NULL) {
        return refuse_board(args);
    }
    status = check_args(c, args, b);
    if (status != EXIT_FINE) {
        return status;
    }
    if (r.ram == 0) {
        r.ram = (uint64_t)board_facts_usual(b, args->board) << 20;
    }
    return print_model(args, &r);
}
