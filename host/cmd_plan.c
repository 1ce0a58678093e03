/* `ingot plan`: the table of regions, without reading a weight. */
#include <stdio.h>

#include "host/commands.h"
#include "board/host/host_board.h"
#include "host/host_app.h"
#include "host/plan_fit.h"
#include "runtime/chat/report.h"

int cmd_plan(int argc, char **argv)
{
    static struct host_args args;
    static struct host_app h;

    if (!host_args_parse(&args, argc, argv)) {
        return EXIT_USAGE;
    }
    if (args.help) {
        puts("usage: ingot plan MODEL [--ram SIZE] [--mem SIZE] [-c CTX] [--fit]\n"
             "                  [--card RATE] [--mem-bw RATE] [--macs RATE]\n"
             "Prints which memory the model takes, which of its weights stay in it, and how fast\n"
             "it will be: on this computer, which is measured, or with --mem-bw on another one.\n"
             "  --ram 1G      memory that is free for the model\n"
             "  --card 23M    bytes a second that its card delivers\n"
             "  --mem-bw 2.4G bytes of weights a second that its cores get from memory\n"
             "  --macs 8G     multiplications a second of its cores, for the prompt\n"
             "  --fit         the same for other types, and which one to take");
        return EXIT_FINE;
    }
    if (args.model == NULL) {
        fprintf(stderr, "ingot: which model? usage: ingot plan MODEL [--ram SIZE] [--mem SIZE]\n");
        return EXIT_USAGE;
    }
    if (!host_app_plan(&h, &args)) {
        return EXIT_FAILED;
    }
    h.platform.console.to_log = NULL; /* here the log is the result */
    if (h.app.has_draft) {
        report_draft(&h.console, &h.app.draft.model);
    }
    report_model(&h.console, &h.app.target.model);
    report_plan(&h.console, &h.app.target.model);
    host_console_flush();
    return exit_status(!args.fit || plan_fit_print(&h.app.target.model));
}
