/* The model of a card when none is named: other files hide no model behind them, and are named with
 * advice. */
#include "tests/unit/storage/storage_rig.h"

/* A file's first bytes. */
static void put_begin(uint32_t cluster, const char *bytes, size_t n)
{
    memset(volume_cluster(cluster), 0, 512);
    memcpy(volume_cluster(cluster), bytes, n);
}

static bool logged(const char *a, const char *b)
{
    return strstr(console, a) != NULL && strstr(console, b) != NULL;
}

static void test_first(void)
{
    static const struct {
        const char *begin, *what, *cure;
    } kinds[] = { { "INGOT\r\nA", "a.ingot is an adapter", "adapters/" },
                  { "INGOTSAV", "a.ingot is a saved conversation", "saves/" },
                  { "INGOTPRE", "a.ingot is a saved system prompt", "ingot.prefix" },
                  { "INGOTREC", "a.ingot is a log", "ingot.log" },
                  { "GRLG\1\2\3", "a.ingot is a compiled grammar", "grammars/" },
                  { "GGUF\3", "a.ingot is a GGUF file", "ingot pack" },
                  { "any text", "a.ingot is not an .ingot file", "ingot pack" } };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        start_over();
        attach(&card.dev);
        put_begin(100, kinds[i].begin, strlen(kinds[i].begin));
        put_begin(200, INGOT_MAGIC, 8);
        OK(find("") == ERR_OK && file_is(200, 4096) && logged(kinds[i].what, kinds[i].cure),
           "the second file is the model if the first one %s: %s", kinds[i].what,
           storage.error_message);
        put_begin(200, "INGOTSAV", 8);
        OK(i + 1 == sizeof kinds / sizeof kinds[0] ||
               (find("") == ERR_BAD_MAGIC && says(kinds[i].what, kinds[i].cure)),
           "two files that are not models are reported: %s", storage.error_message);
    }
    start_over();
    attach(&card.dev);
    put_begin(100, "", 0);
    memcpy(volume_cluster(100) + MODEL_BYTES / 2, "INGOTSAV", 8);
    put_begin(200, INGOT_MAGIC, 8);
    OK(find("") == ERR_OK && file_is(200, 4096) &&
           logged("a.ingot is a saved conversation", "saves/"),
       "a save in the second half of its file is not taken for a model: %s", storage.error_message);
    OK(find("a") == ERR_OK && file_is(100, MODEL_BYTES),
       "the same file opens if it is asked for by its name");
    start_over();
    attach(&card.dev);
    put_begin(100, INGOT_MAGIC, 8);
    OK(find("") == ERR_OK && file_is(100, MODEL_BYTES) && !logged("ignored", ""),
       "a model is not ignored");
}

/* A model of which a copy wrote only the beginning. */
static void test_cut(void)
{
    struct ingot_header *a = (void *)volume_cluster(100), *b = (void *)volume_cluster(200);

    start_over();
    attach(&card.dev);
    put_begin(100, INGOT_MAGIC, 8);
    put_begin(200, INGOT_MAGIC, 8);
    a->file_bytes = MODEL_BYTES + 4096;
    b->file_bytes = 4096;
    OK(find("") == ERR_OK && file_is(200, 4096) &&
           logged("a.ingot is cut short and is ignored", "copy it again"),
       "a model that is cut short hides no whole model: %s", console);
    b->file_bytes = UINT64_MAX;
    OK(find("") == ERR_OK && file_is(100, MODEL_BYTES),
       "if every model is cut short, the first one is opened, and its reader says so: %s",
       storage.error_message);
    OK(find("a") == ERR_OK && file_is(100, MODEL_BYTES),
       "a model that is cut short opens if it is asked for by its name");
    a->file_bytes = MODEL_BYTES;
    OK(find("") == ERR_OK && file_is(100, MODEL_BYTES), "a whole model is the first one");
}

/* Add a file to the root folder. */
static void put_root(const char *text, const char *name83)
{
    uint16_t name[40];
    unsigned n = 0;

    for (; text[n] != '\0'; n++)
        name[n] = (uint8_t)text[n];
    volume_add_long(name, n, volume_checksum(name83));
    volume_add(name83, 0x20, 100, 512);
}

/* Models of other programs, on a card without an .ingot file. */
static void test_others(void)
{
    start_over();
    attach(&card.dev);
    put_card(false);
    volume_entries = 2; /* after notes and models */
    OK(find("") == ERR_NOT_FOUND && says("has no model", "`ingot pack`") && says("models/", ""),
       "a card without a model: %s", storage.error_message);
    put_root("._m.GGUF", "_M~1    GGU");
    OK(find("") == ERR_NOT_FOUND && says("has no model", "`ingot pack`"),
       "what macOS puts beside a file is not taken for it: %s", storage.error_message);
    put_root("m.GGUF", "M       GGU");
    OK(find("") == ERR_BAD_MAGIC && strncmp(storage.error_message, "m.GGUF", 6) == 0 &&
           says("m.GGUF is a GGUF file", "ingot pack"),
       "a file of another format is named: %s", storage.error_message);
    put_card(false);
    volume_entries = 2;
    put_root("model.SafeTensors", "MODEL   SAF");
    OK(find("") == ERR_BAD_MAGIC &&
           says("model.SafeTensors is a safetensors file", "its whole folder with `ingot pack`"),
       "so is one of a Hugging Face folder: %s", storage.error_message);
}

/* Add n files to models/, which are not models. */
static void put_many(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint16_t name[11] = { 0 };
        char text[16];

        snprintf(text, sizeof text, "%05u.ingot", i);
        for (unsigned k = 0; k < 11; k++)
            name[k] = (uint8_t)text[k];
        snprintf(text, sizeof text, "%05u~1 ING", i);
        volume_add_long(name, 11, volume_checksum(text));
        volume_add(text, 0x20, 300, 512);
    }
    volume_link(300, VOLUME_END);
    put_le(volume_cluster(2) + 32 + 26, 9001, 2); /* the root goes on after models/ */
}

/* A folder of thousands of files that are not models; each step to the next name reads all of
 * it. */
static void test_many(void)
{
    start_over();
    attach(&card.dev);
    put_many(7000);
    OK(find("") == ERR_OK && card.n_reads < 60000 && logged("ignored", "ingot pack"),
       "the first model is opened after %u reads among thousands of other files: %s", card.n_reads,
       storage.error_message);
}

static unsigned n_listed;
static bool is_sorted;

static void list_one(void *context, const char *name, uint64_t bytes)
{
    static char before[FAT32_NAME_BYTES];

    (void)context;
    (void)bytes;
    is_sorted = (n_listed == 0 || is_sorted) &&
                (n_listed == 0 || fat32_compare_names(before, name) < 0);
    snprintf(before, sizeof before, "%s", name);
    n_listed++;
}

/* A list reads the folder once for each name, and not once for each pair of names. */
static void test_list(void)
{
    unsigned before;

    start_over();
    attach(&card.dev);
    put_many(400); /* models/ begins at the sixth, and has 76 sectors */
    OK(find("") == ERR_OK, "a card with hundreds of models opens: %s", storage.error_message);
    before = card.n_reads;
    n_listed = 0;
    OK(storage_list_models(&storage, list_one, NULL) == ERR_OK && n_listed == 395 && is_sorted,
       "a list of hundreds of models is complete and sorted: %u", n_listed);
    OK(card.n_reads - before < 410 * 100, "the list takes %u reads", card.n_reads - before);
}

int main(void)
{
    test_first();
    test_cut();
    test_others();
    test_many();
    test_list();
    return tap_done();
}
