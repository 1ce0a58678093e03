/* The application (runtime/app/app.h) on this computer, for all commands that need a model. */
#ifndef INGOT_HOST_HOST_APP_H
#define INGOT_HOST_HOST_APP_H

#include <stdbool.h>

#include "board/host/host_memory.h"
#include "board/board.h"
#include "flash_image/signing/sign_key.h"
#include "host/args/host_args.h"
#include "host/app/host_files.h"
#include "runtime/app/app.h"

struct host_app {
    struct machine machine;
    struct host_memory memory; /* the machine's rates and limits */
    struct platform platform;
    struct console console;
    struct host_files files;
    struct sign_key key; /* of --public-key */
    struct app app;
};

/* The functions below return false after an error message on standard error. args must outlive h,
 * and h must not move. args->model is an .ingot file, or a file of another format that `ingot pack`
 * accepts, which is packed to a temporary file first. */

/* Starts only the application, without a model: its log lines are the result. */
bool host_app_start(struct host_app *h, struct host_args *args);

/* Find args->model and make its plan. */
bool host_app_plan(struct host_app *h, struct host_args *args);

/* Load the weights of the planned model, and open a session. */
bool host_app_load(struct host_app *h);

/* Start, plan, load, and begin a conversation. interactive: standard input is read, and Ctrl-C
 * arrives as a byte; if standard input is a terminal, a line is written before the first prompt. */
bool host_app_open(struct host_app *h, struct host_args *args, bool interactive);

#endif
