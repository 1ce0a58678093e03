#include "runtime/storage/file_mark.h"

#include <stddef.h>
#include <string.h>

#include "flash_image/format/adapter.h"
#include "flash_image/format/format.h"

/* Marks of Ingot's other files, and of files of other programs. */
static const struct file_mark marks[] = {
    { INGOT_MAGIC, "a model", "move it to models/" },
    { ADAPTER_MAGIC, "an adapter", "move it to adapters/, where /adapter finds it" },
    { "INGOTSAV", "a saved conversation", "move it to saves/ as NAME.sav, where /load finds it" },
    { "INGOTPRE", "a saved system prompt", "move it to the card's root as ingot.prefix" },
    { "INGOTLRN", "a file of lessons", "move it to saves/ as learn.sav" },
    { "INGOTPOL", "a file of a policy", "move it to saves/ as policy.sav" },
    { "INGOTFAB", "a file of memories", "move it to saves/ as fabric.sav" },
    { "INGOTREC", "a log of turns", "move it to the card's root as ingot.log" },
    { "INGOTUSE", "a count of experts", "name it like its model, with .use" },
    { "INGOTKPT", "a file of kept prompts", "name it as kept= says" },
    { "GRLG", "a compiled grammar", "move it to grammars/ as NAME.grammar" },
    { "GGUF", "a GGUF file", "make an .ingot file of it with `ingot pack`" },
};

const struct file_mark *file_mark_find(const void *begin)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (memcmp(begin, marks[i].magic, strlen(marks[i].magic)) == 0) {
            return &marks[i];
        }
    }
    return NULL;
}
