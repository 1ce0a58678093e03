/* Files that a save makes or writes, in cases that a shell cannot arrange: an end that fails, and a
 * model given as the file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/app/host_saves.h"
#include "tests/unit/tap.h"

static struct host_files files;
static struct host_args args;
static struct platform platform;
static char folder[256];

/* A few are kept, as options keep theirs. */
static const char *path(const char *name)
{
    static char texts[8][512];
    static unsigned nth;
    char *text = texts[nth++ % 8];

    snprintf(text, sizeof texts[0], "%s/%s", folder, name);
    return text;
}

/* Writes a file that begins with a mark or without one, and goes on with so many letters. */
static bool put(const char *name, const char *mark, size_t bytes)
{
    FILE *f = fopen(path(name), "wb");

    if (f != NULL)
        fputs(mark, f);
    for (size_t i = 0; f != NULL && i < bytes; i++)
        fputc('m', f);
    return f != NULL && fclose(f) == 0;
}

static bool holds(const char *name, const char *mark, size_t bytes)
{
    char first[16] = "";
    FILE *f = fopen(path(name), "rb");
    size_t n = 0;

    if (f != NULL && fread(first, 1, strlen(mark), f) != strlen(mark))
        first[0] = '?';
    while (f != NULL && fgetc(f) == 'm')
        n++;
    if (f != NULL)
        fclose(f);
    return f != NULL && n == bytes && strcmp(first, mark) == 0;
}

static const char save_mark[] = "INGOTSAV", prefix_mark[] = "INGOTPRE";

static void test_end_fails(void)
{
    const struct file *file;

    OK(put("c.sav", save_mark, 9) && host_saves_find(&files, "c", 4096, &file) == ERR_OK &&
           files.makes,
       "a larger save is made beside one that is too small: %s", files.error_message);
    unlink(files.made.path); /* so that it cannot get its name */
    OK(host_saves_end(&files, true) != ERR_OK && holds("c.sav", save_mark, 9) &&
           access(path("c.sav~"), F_OK) != 0,
       "the old save gets its name back if the new one cannot have it: %s", files.error_message);
    OK(host_saves_find(&files, "c", 4096, &file) == ERR_OK &&
           host_saves_end(&files, true) == ERR_OK && holds("c.sav~", save_mark, 9),
       "a new save gets the name, and the old one another");
}

/* A save that is too small, and the user's files under its other name. */
static void test_old_names(void)
{
    const struct file *file;

    OK(put("d.sav", save_mark, 9) && put("d.sav~", "", 5) && put("d.sav~2", "", 6) &&
           host_saves_find(&files, "d", 4096, &file) == ERR_OK &&
           host_saves_end(&files, true) == ERR_OK,
       "a save is made beside NAME~ and NAME~2: %s", files.error_message);
    OK(holds("d.sav~", "", 5) && holds("d.sav~2", "", 6) && holds("d.sav~3", save_mark, 9),
       "other files stay as they are, and the old save has the next name");
    OK(put("d.sav", "", 0) && host_saves_find(&files, "d", 4096, &file) == ERR_OK &&
           host_saves_end(&files, true) == ERR_OK && access(path("d.sav~4"), F_OK) != 0,
       "a save of no bytes leaves nothing to keep: %s", files.error_message);
}

/* Files that Ingot did not write, small and large. */
static void test_not_ours(void)
{
    static const size_t sizes[] = { 5, 9000 };
    const struct file *file;

    for (size_t i = 0; i < 2; i++) {
        OK(put("e.sav", "", sizes[i]) && host_saves_find(&files, "e", 4096, &file) != ERR_OK &&
               holds("e.sav", "", sizes[i]) && strstr(files.error_message, "e.sav") != NULL &&
               strstr(files.error_message, "is not a saved conversation") != NULL,
           "a file of %zu bytes that is not a save is refused: %s", sizes[i], files.error_message);
        args.prefix = path("letter.txt");
        OK(put("letter.txt", "", sizes[i]) &&
               host_saves_find_prefix(&files, 4096, &file) != ERR_OK &&
               holds("letter.txt", "", sizes[i]) &&
               strstr(files.error_message, "letter.txt") != NULL,
           "a file that is not a prefix is refused: %s", files.error_message);
        OK(put("letter.txt", save_mark, sizes[i]) &&
               host_saves_find_prefix(&files, 4096, &file) != ERR_OK &&
               holds("letter.txt", save_mark, sizes[i]),
           "a conversation is refused as a prefix: %s", files.error_message);
        OK(put("m.use", "", sizes[i]) && host_saves_find_use(&files, 4096, &file) != ERR_OK &&
               holds("m.use", "", sizes[i]),
           "a file that is not a count of experts is refused: %s", files.error_message);
        OK(put("ingot.log", "", sizes[i]) && host_saves_find_log(&files, &file) != ERR_OK &&
               holds("ingot.log", "", sizes[i]) && strstr(files.error_message, "ingot.log") != NULL,
           "a file that is not a log is refused: %s", files.error_message);
    }
    args.kv_file = path("letter.txt");
    OK(put("letter.txt", "GGUF", 9000) && host_saves_find_kv(&files, &file) != ERR_OK &&
           holds("letter.txt", "GGUF", 9000),
       "a model is refused as room for keys and values: %s", files.error_message);
    args.kv_file = NULL;
    args.prefix = NULL;
}

/* Files that it wrote, also with a damaged first half, and zeros. */
static void test_ours(void)
{
    const struct file *file;
    int fd;

    args.prefix = path("p");
    OK(put("p", prefix_mark, 9000) && host_saves_find_prefix(&files, 4096, &file) == ERR_OK &&
           !files.makes,
       "a prefix is written in place: %s", files.error_message);
    fd = open(path("p"), O_WRONLY);
    OK(pwrite(fd, "damaged!", 8, 0) == 8 && pwrite(fd, prefix_mark, 8, 4096) == 8 &&
           host_saves_find_prefix(&files, 4096, &file) == ERR_OK,
       "a damaged prefix is recognized by the mark of its second half: %s", files.error_message);
    OK(ftruncate(fd, 0) == 0 && ftruncate(fd, 1 << 20) == 0 &&
           host_saves_find_prefix(&files, 4096, &file) == ERR_OK && !files.makes,
       "a file that truncate made is room for a prefix: %s", files.error_message);
    OK(pwrite(fd, "x", 1, 700000) == 1 && host_saves_find_prefix(&files, 4096, &file) != ERR_OK,
       "zeros with a letter far behind are not taken for a prefix: %s", files.error_message);
    close(fd);
    args.prefix = NULL;
}

static void test_model(void)
{
    const struct file *file;

    args.prefix = files.path;
    OK(host_saves_find_prefix(&files, 4096, &file) != ERR_OK && holds("m.ingot", "", 10000) &&
           strstr(files.error_message, "model") != NULL,
       "a prefix is not written into the model: %s", files.error_message);
}

int main(void)
{
    static const char *const made[] = { "m.ingot",    "c.sav",   "c.sav~",    "d.sav",
                                        "d.sav~",     "d.sav~2", "d.sav~3",   "e.sav",
                                        "letter.txt", "m.use",   "ingot.log", "p" };
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
    OK(put("m.ingot", "", 10000), "the test has a model");
    test_end_fails();
    test_old_names();
    test_not_ours();
    test_ours();
    test_model();
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        unlink(path(made[i]));
    OK(rmdir(folder) == 0, "no other file is left");
    return tap_done();
}
