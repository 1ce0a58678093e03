#include "runtime/features/prefix/app_prefix.h"
#include "host/card/card_prefix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/output/temporary.h"
#include "host/app/host_app.h"

char *card_prefix_word(const char *system)
{
    static const char name[] = "system=\"";
    char *word = malloc(sizeof name + 2 * strlen(system) + 1), *to = word;

    if (word == NULL) {
        return NULL;
    }
    to += sprintf(to, "%s", name);
    for (; *system != '\0'; system++) {
        bool is_escaped = strchr("\"\\\n\t", *system) != NULL;

        if (is_escaped) {
            *to++ = '\\';
        }
        *to++ = *system == '\n' ? 'n' : *system == '\t' ? 't' : *system;
    }
    *to++ = '"';
    *to = '\0';
    return word;
}

struct error_message {
    char *text;
    size_t bytes;
};

/* Keep the first message about a refused option; an unknown option does not matter here. */
static void keep_error_message(void *context, bool refused, const char *error_message)
{
    struct error_message *p = context;

    if (refused && p->text[0] == '\0') {
        snprintf(p->text, p->bytes, "%s", error_message);
    }
}

/* Read the options on which the bits of the state depend; those of memory, cores and cards do not
 * matter. */
static bool read_words(struct host_args *args, const char *words, const char *system,
                       struct error_message *p)
{
    struct options_report report = { keep_error_message, p };
    struct options all;

    options_init(&all);
    if (words != NULL && options_parse(&all, words, &report) != ERR_OK) {
        return false;
    }
    args->options.load.ctx = all.load.ctx;
    args->options.load.kv.types = all.load.kv.types;
    args->options.reply.think = all.reply.think;
    return options_set(&args->options, "system", system, &report) == ERR_OK;
}

bool card_prefix_make(const char *model, const char *words, const char *system, const char *out,
                      char *error_message, size_t bytes)
{
    static struct host_args args;
    static struct host_app host;
    struct error_message p = { error_message, bytes };
    const struct file *file;

    error_message[0] = '\0';
    host_args_init(&args, "card");
    args.model = model;
    args.prefix = out;
    args.quiet = true;
    if (!read_words(&args, words, system, &p)) {
        return false;
    }
    if (!host_app_open(&host, &args, false)) {
        snprintf(error_message, bytes,
                 "the system prompt's state cannot be computed, because the model does not load");
        return false;
    }
    if (app_save_prefix(&host.app, &file) != ERR_OK) {
        snprintf(error_message, bytes, "the system prompt's state: %s", host.app.error_message);
        return false;
    }
    return true;
}

char *card_prefix_file(const char *out, char *error_message, size_t bytes)
{
    size_t room = strlen(out) + 64;
    char *path = malloc(room);
    int fd = path != NULL ? temporary_file(out, path, room) : -1;

    if (fd < 0) {
        snprintf(error_message, bytes, "%.400s: no file can be made beside it: %s", out,
                 strerror(errno));
        free(path);
        return NULL;
    }
    close(fd);
    return path;
}
