/* `ingot plan`: the table of regions, without reading a weight. */
#include <stdio.h>

#include "board/host/commands.h"
#include "board/host/host_board.h"
#include "board/host/host_model.h"
#include "runtime/report.h"

int cmd_plan(int argc, char **argv)
{
    static struct host_args args;
    static struct host_model model;

    if (!host_args_parse(&args, argc, argv)) {
        return EXIT_USAGE;
    }
    if (args.help) {
        puts("usage: ingot plan MODEL [--ram SIZE] [--mem SIZE] [-c CTX]\n"
             "Prints which memory the model takes and which of its weights stay in it.");
        return EXIT_FINE;
    }
    if (args.model == NULL) {
        fprintf(stderr, "ingot: which model? usage: ingot plan MODEL [--ram SIZE] [--mem SIZE]\n");
        return EXIT_USAGE;
    }
    host_console_open(false);
    if (!host_model_open(&model, &args)) {
        return EXIT_FAILED;
    }
    report_model(&model.engine);
    report_plan(&model.engine);
    host_console_flush();
    return EXIT_FINE;
}
