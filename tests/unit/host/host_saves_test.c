/* Files that a save makes or writes, at what a shell cannot arrange: an end that fails, and a model given as the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host_saves.h"
#include "tests/unit/tap.h"

static struct host_files files;
static struct host_args args;
static struct platform platform;
static char folder[256];

static const char *path(const char *name)
{
    static char text[512];

    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static bool put(const char *name, size_t bytes)
{
    FILE *f = fopen(path(name), "wb");

    for (size_t i = 0; f != NULL && i < bytes; i++)
        fputc('m', f);
    return f != NULL && fclose(f) == 0;
}

static bool holds(const char *name, size_t bytes)
{
    FILE *f = fopen(path(name), "rb");
    size_t n = 0;

    while (f != NULL && fgetc(f) == 'm')
        n++;
    if (f != NULL)
        fclose(f);
    return f != NULL && n == bytes;
}

static void test_end_fails(void)
{
    const struct file *file;

    OK(put("c.sav", 9) && host_saves_find(&files, "c", 4096, &file) == ERR_OK && files.makes,
       "a save that is too small, and a larger one beside it: %s", files.problem);
    unlink(files.made.path); /* so that it cannot get its name */
    OK(host_saves_end(&files, true) != ERR_OK && holds("c.sav", 9) &&
           access(path("c.sav~"), F_OK) != 0,
       "that cannot get the name: the old one has it again: %s", files.problem);
    OK(host_saves_find(&files, "c", 4096, &file) == ERR_OK &&
           host_saves_end(&files, true) == ERR_OK && holds("c.sav~", 9),
       "one that can: the old one has another");
}

static void test_model(void)
{
    const struct file *file;

    args.prefix = files.path;
    OK(host_saves_find_prefix(&files, 4096, &file) != ERR_OK && holds("m.ingot", 10000) &&
           strstr(files.problem, "model") != NULL,
       "a prefix is not written into the model: %s", files.problem);
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/ingot-saves-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", folder);
        return tap_done();
    }
    platform.clock.hz = 1000;
    files.args = &args;
    files.platform = &platform;
    snprintf(files.path, sizeof files.path, "%s/m.ingot", folder);
    OK(put("m.ingot", 10000), "a model");
    test_end_fails();
    test_model();
    for (unsigned i = 0; i < 3; i++)
        unlink(path((const char *const[]){ "m.ingot", "c.sav", "c.sav~" }[i]));
    OK(rmdir(folder) == 0, "nothing else is left");
    return tap_done();
}
