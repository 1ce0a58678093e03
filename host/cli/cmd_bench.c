/* `ingot bench` and `ingot selftest`: the speed of a model on this computer, and a test of the
 * kernels. */
#include "board/host/host_board.h"
#include "host/cli/commands.h"
#include "host/app/host_app.h"
#include "runtime/app/bench.h"

static int run_bench(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    int status;

    if (!host_args_read(&cmd_bench, &args, argc, argv, &status)) {
        return status;
    }
    return exit_status(host_app_open(&host, &args, false) && bench_print(&host.app));
}

static const struct command_option *const bench_options[] = {
    HOST_ROW(QUIET), HOST_ROWS_LOAD, HOST_ROWS_COMPUTER, HOST_FLAGS(PRINTED), NULL,
};

const struct command cmd_bench = {
    .name = "bench",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "measure the speed of a model on this computer",
    .about =
        "Measures prefill and decode, as /bench does on a board: a prompt of 128 tokens, then 16\n"
        "one by one. --together compares parallel sequences with one at a time.\n"
        "The figures go to standard output, the plan to standard error.",
    .example = "ingot bench model.ingot -t 4\ningot bench model.ingot --mem 200M --card 23M",
    .options = bench_options,
    .flags = FOR_BENCH,
    .operand_field = offsetof(struct host_args, model),
    .run = run_bench,
};

static int run_selftest(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app host;
    int status;

    if (!host_args_read(&cmd_selftest, &args, argc, argv, &status)) {
        return status;
    }
    args.options.machine.selftest = true;
    return exit_status(host_app_start(&host, &args));
}

static const struct command_option *const selftest_options[] = { HOST_FLAGS(SAMPLING), NULL };

const struct command cmd_selftest = {
    .name = "selftest",
    .operands = "",
    .summary = "check every kernel on this CPU against its reference",
    .about = "Compares every kernel that this CPU can run with the reference in C. No model is\n"
             "needed.\n"
             "Exit status: 0 all agree, 1 a kernel computes wrong.",
    .example = "ingot selftest",
    .options = selftest_options,
    .flags = FOR_SELFTEST,
    .run = run_selftest,
};
