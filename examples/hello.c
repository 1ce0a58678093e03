/* Asks a model one thing, and prints its reply:  hello model.ingot "Hello! Who are you?" */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "ingot.h"
static bool read_file(void *context, uint64_t offset, void *buffer, size_t bytes)
{
    FILE *f = (FILE *)context;
    return fseek(f, (long)offset, SEEK_SET) == 0 && fread(buffer, 1, bytes, f) == bytes;
}

static uint64_t ticks(void *context)
{
    return (void)context, (uint64_t)clock();
}

static bool print(void *to, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, (FILE *)to) == bytes;
}

int main(int argc, char **argv)
{
    static char memory[256 << 20]; /* the system provides only the pages that are used */
    static struct ingot_setup setup;
    struct ingot_turn turn = { argv[argc - 1], strlen(argv[argc - 1]), NULL, 0, false };
    struct ingot_model *model = NULL;
    struct ingot_session *session;
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return fprintf(stderr, "usage: hello model.ingot \"A question\"\n"), 2;
    setup.memory = memory, setup.memory_bytes = sizeof memory, setup.source.read = read_file;
    setup.clock.ticks = ticks, setup.clock.hz = CLOCKS_PER_SEC, setup.source.context = file;
    setup.source.name = argv[1], setup.source.bytes = (uint64_t)ftell(file);
    if (ingot_open(&setup, &model) || ingot_load(model) || ingot_session_begin(model, &session) ||
        ingot_prompt_turn(session, &turn) || ingot_generate(session, NULL, print, stdout, NULL))
        return fprintf(stderr, "hello: %s\n", ingot_error_message(model)), 1;
    return puts("") == EOF;
}
