/* `ingot plan`: prints the table of regions without reading a weight. */
#include <stdio.h>

#include "host/cli/commands.h"
#include "board/host/host_board.h"
#include "host/app/host_app.h"
#include "host/plan/plan_board.h"
#include "host/plan/plan_fit.h"
#include "runtime/chat/report.h"

/* Set --mem-bw, bytes of weights per second; the planner counts picoseconds per byte. */
static enum option_result set_decode_rate(void *arguments, const struct command_option *o,
                                          const char *value)
{
    struct host_args *a = arguments;
    uint64_t rate;

    (void)o;
    if (!host_args_read_rate(value, &rate)) {
        return OPTION_REFUSED;
    }
    a->predict = true;
    a->memory_rate = rate;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        a->rates.decode[type] = (uint32_t)(1e12 / (double)rate) + 1;
    }
    return OPTION_TAKEN;
}

/* Set --macs, multiplications per second. Each weight takes one multiplication, so a byte takes one
 * for each weight in it. */
static enum option_result set_prefill_rate(void *arguments, const struct command_option *o,
                                           const char *value)
{
    struct host_args *a = arguments;
    uint64_t rate;

    (void)o;
    if (!host_args_read_rate(value, &rate)) {
        return OPTION_REFUSED;
    }
    a->predict = true;
    a->macs = true;
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        size_t bytes = image_type_row_bytes(type, 256);
        double weights;

        if (bytes == 0) {
            continue; /* the size of a weight is unknown */
        }
        weights = 256.0 / (double)bytes;
        a->rates.prefill[type] = (uint32_t)(weights * 1e12 / (double)rate) + 1;
    }
    return OPTION_TAKEN;
}

static enum err plan_here(void *context, const struct image *image, struct plan *plan)
{
    const struct model *m = context;
    struct plan_request request = m->request;

    request.image = image;
    return plan_make(plan, &request);
}

static int run(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app h;
    int status;

    if (!host_args_read(&cmd_plan, &args, argc, argv, &status)) {
        return status;
    }
    if (args.board != NULL) {
        return plan_board_print(&cmd_plan, &args);
    }
    if (!host_app_plan(&h, &args)) {
        return EXIT_FAILED;
    }
    h.platform.console.to_log = NULL; /* here the log is the result */
    if (h.app.has_draft) {
        report_draft(&h.console, &h.app.draft.model, args.options.load.draft);
    }
    report_model(&h.console, &h.app.target.model, app_model_name(&h.app));
    report_plan(&h.console, &h.app.target.model);
    host_console_flush();
    return exit_status(!args.fit ||
                       plan_fit_print(&h.app.target.model.image, plan_here, &h.app.target.model));
}

static const struct command_option board_name = {
    .name = "--board",
    .value = "NAME",
    .choices =
#define BOARD(its_name, ...) its_name " "
#include "board_rows.inc"
#undef BOARD
        ,
    .help = "predict for a board, such as rpi4, from published rates of its memory\n"
            "and card; --ram chooses one of the sizes that it is sold with",
    .field = offsetof(struct host_args, board),
};
static const struct command_option mem_bw = {
    .name = "--mem-bw",
    .value = "RATE",
    .takes = "a rate per second such as 2.4G",
    .help = "bytes of weights a second that the cores read from memory, such as 2.4G",
    .set = set_decode_rate,
};
static const struct command_option macs = {
    .name = "--macs",
    .value = "RATE",
    .takes = "a rate per second such as 8G",
    .help = "multiplications a second of the cores, for the prompt",
    .set = set_prefill_rate,
};
static const struct command_option fit = {
    .name = "--fit",
    .help = "predict other types, too, and say which one to take",
    .field = offsetof(struct host_args, fit),
};
static const struct command_option title = { .help = "another machine" };
static const struct command_option *const options[] = {
    &fit,           HOST_ROW(QUIET),    &title, &board_name, &mem_bw, &macs,
    HOST_ROWS_LOAD, HOST_ROWS_COMPUTER, NULL,
};

const struct command cmd_plan = {
    .name = "plan",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "predict memory and speed of a model, without loading it",
    .about =
        "Prints how much memory the model takes, which weights stay in memory, and how fast it\n"
        "will be: on this computer, which is measured, or with --mem-bw on another one. With\n"
        "--board the speed is an upper bound, computed from published rates.",
    .example = "ingot plan model.ingot --board rpi4 --ram 2G\n"
               "ingot plan model.ingot --ram 1G --mem 200M\n"
               "ingot plan model.ingot --ram 448M --card 23M --mem-bw 2.4G --macs 8G --fit",
    .options = options,
    .flags = FOR_PLAN,
    .operand_field = offsetof(struct host_args, model),
    .run = run,
};
