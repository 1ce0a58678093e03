#include "flash_image/source/file_kind.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "flash_image/format/adapter.h"
#include "flash_image/format/signature.h"
#include "runtime/text/plural.h"
#include "runtime/text/utf8.h"

enum {
    LOOK_BYTES = 512, /* bytes of a file that are searched */
    LINE_BYTES = 60,  /* bytes of a first line that are shown */
    ONNX_VERSIONS = 20,
    LEAST_TEXT = 4,
};

#define OTHER_FORMAT "Ingot reads GGUF and safetensors: fetch or convert to one of them"
#define UNPACK "unpack it and give the file that is in it"
#define FOLDER "it is a part of a Hugging Face folder: give the folder"

/* ---- kinds that have no magic --------------------------------------------------------- */

static bool holds(const uint8_t *data, size_t bytes, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i + n <= bytes && i < LOOK_BYTES; i++) {
        if (memcmp(data + i, text, n) == 0) {
            return true;
        }
    }
    return false;
}

/* The first byte after a byte order mark and white space. */
static const uint8_t *first_word(const uint8_t *data, size_t *bytes)
{
    if (*bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        data += 3;
        *bytes -= 3;
    }
    while (*bytes != 0 && (*data == ' ' || (*data >= '\t' && *data <= '\r'))) {
        data++;
        *bytes -= 1;
    }
    return data;
}

/* True if the file begins with the length of a header, then a brace. */
static bool is_safetensors(const uint8_t *data, size_t bytes)
{
    return bytes > 8 && load_u64(data) <= bytes - 8 && data[8] == '{';
}

static bool is_html(const uint8_t *data, size_t bytes)
{
    static const char *const starts[] = { "<!doctype html", "<html", "<head", "<?xml" };
    const uint8_t *at = first_word(data, &bytes);

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t n = strlen(starts[i]);

        if (bytes >= n && strncasecmp((const char *)at, starts[i], n) == 0) {
            return true;
        }
    }
    return false;
}

/* True for UTF-8 whose only control characters are white space. */
static bool is_text(const uint8_t *data, size_t bytes)
{
    size_t look = min_size(bytes, LOOK_BYTES);
    int n = 1;

    for (size_t i = 0; i < look; i += (size_t)n) {
        n = utf8_check(data + i, look - i);
        if (n < 0 || data[i] == 127 || data[i] == 0 ||
            (data[i] < ' ' && strchr("\t\n\f\r", data[i]) == NULL)) {
            return false;
        }
        if (n == 0) { /* the last character is cut; that is allowed if the file goes on */
            return look < bytes;
        }
    }
    return bytes >= LEAST_TEXT;
}

/* True for a text that begins with a brace, unless the brace begins a tag of Jinja. */
static bool is_json(const uint8_t *data, size_t bytes)
{
    const uint8_t *at = first_word(data, &bytes);

    if (bytes < 2 || (at[0] != '{' && at[0] != '[')) {
        return false;
    }
    return strchr("{%#", at[1]) == NULL && is_text(at, bytes);
}

/* True if field 1 is a message with a text as its field 1: the first piece. */
static bool is_pieces(const uint8_t *data, size_t bytes)
{
    return bytes > 4 && data[0] == 0x0a && data[1] < 0x80 && data[2] == 0x0a &&
           data[3] + 2 <= data[1];
}

/* True if field 1 is the format's version, followed by the producer, its version, a domain, the
 * model's version, a text, the graph, or the sets of operators. */
static bool is_onnx(const uint8_t *data, size_t bytes)
{
    return bytes > 4 && data[0] == 0x08 && data[1] != 0 && data[1] <= ONNX_VERSIONS &&
           data[2] != 0 && strchr("\x12\x1a\x22\x28\x32\x3a\x42", data[2]) != NULL;
}

/* True if the first file in the zip has a name such as "archive/data.pkl". */
static bool is_torch_zip(const uint8_t *data, size_t bytes)
{
    return holds(data, bytes, "data.pkl");
}

static bool is_numpy_zip(const uint8_t *data, size_t bytes)
{
    return holds(data, bytes, ".npy");
}

/* True if the file begins with a protocol and an instruction; in llama2.c's header that would be a
 * width of 2^16 or more. */
static bool is_pickle(const uint8_t *data, size_t bytes)
{
    return bytes > 3 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5 && data[2] != 0;
}

/* True if the file begins with a sector of zeros. */
static bool is_zeros(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < LOOK_BYTES; i++) {
        if (i >= bytes || data[i] != 0) {
            return false;
        }
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The first row that matches decides. A row matches if its n bytes of magic are at `at` (n may be
 * 0) and `is` returns true (or is NULL). The row also has the text after "is", and the advice. */
static const struct {
    enum file_kind kind;
    uint16_t at, n;
    const char *magic;
    bool (*is)(const uint8_t *data, size_t bytes);
    const char *what, *cure;
} rules[] = {
    { FILE_INGOT, 0, 8, INGOT_MAGIC, NULL, "an .ingot file", "give it to ingot run as the model" },
    { FILE_OWN, 0, 8, ADAPTER_MAGIC, NULL, "an adapter", "give its model, and --adapter FILE" },
    { FILE_OWN, 0, 4, "GRLG", NULL, "a compiled grammar", "give a model, and --grammar FILE" },
    { FILE_OWN, 0, 8, SIGNATURE_MAGIC, NULL, "a signature", "give the file that it signs" },
    { FILE_OWN, 0, 8, "INGOTSAV", NULL, "a saved conversation",
      "give its model, and /load it there" },
    { FILE_OWN, 0, 8, "INGOTPRE", NULL, "a saved prefix",
      "it is kept beside its model: give the model" },
    { FILE_OWN, 0, 8, "INGOTLRN", NULL, "saved lessons",
      "they are kept beside their model: give the model" },
    { FILE_OWN, 0, 8, "INGOTPOL", NULL, "a saved policy",
      "it is kept beside its model: give the model" },
    { FILE_OWN, 0, 8, "INGOTFAB", NULL, "a saved memory fabric",
      "it is kept beside its model: give the model" },
    { FILE_OWN, 0, 8, "INGOTREC", NULL, "a log of turns", "`ingot log` shows it" },
    { FILE_OWN, 0, 8, "INGOTUSE", NULL, "a record of how experts are used",
      "it is kept beside its model: give the model" },
    { FILE_GGUF, 0, 4, "GGUF", NULL, "a GGUF file",
      "a GGUF is a whole model: give it instead of the model" },
    { FILE_SAFETENSORS, 0, 0, NULL, is_safetensors, "a safetensors file",
      "its name must end in .safetensors, and its config.json must lie beside it" },
    { FILE_LFS_POINTER, 0, 40, "version https://git-lfs.github.com/spec/", NULL, NULL,
      "git lfs pull fetches it" },
    { FILE_HTML, 0, 0, NULL, is_html, "an HTML page",
      "the address led to a page about the file; on Hugging Face use /resolve/ instead of /blob/" },
    { FILE_JSON, 0, 0, NULL, is_json, "a JSON file", FOLDER },
    { FILE_TORCH_ZIP, 0, 4, "PK\3\4", is_torch_zip, "a PyTorch checkpoint (zip)", OTHER_FORMAT },
    { FILE_TORCH_PICKLE, 0, 0, NULL, is_pickle, "a PyTorch checkpoint (pickle)", OTHER_FORMAT },
    { FILE_NUMPY, 0, 4, "PK\3\4", is_numpy_zip, "a NumPy archive", OTHER_FORMAT },
    { FILE_NUMPY, 0, 6, "\x93NUMPY", NULL, "a NumPy file", OTHER_FORMAT },
    { FILE_HDF5, 0, 8, "\x89HDF\r\n\x1a\n", NULL, "an HDF5 (Keras) file", OTHER_FORMAT },
    { FILE_TFLITE, 4, 4, "TFL3", NULL, "a TensorFlow Lite model", OTHER_FORMAT },
    { FILE_ONNX, 0, 0, NULL, is_onnx, "an ONNX model", OTHER_FORMAT },
    { FILE_GGML, 0, 4, "tjgg", NULL, "a GGML file (ggjt) from before GGUF", OTHER_FORMAT },
    { FILE_GGML, 0, 4, "fmgg", NULL, "a GGML file (ggmf) from before GGUF", OTHER_FORMAT },
    { FILE_GGML, 0, 4, "lmgg", NULL, "a GGML file from before GGUF", OTHER_FORMAT },
    { FILE_GGML, 0, 4, "algg", NULL, "a GGML adapter (ggla) from before GGUF", OTHER_FORMAT },
    { FILE_ZIP, 0, 4, "PK\3\4", NULL, "a zip archive", UNPACK },
    { FILE_GZIP, 0, 3, "\x1f\x8b\x08", NULL, "compressed by gzip", UNPACK },
    { FILE_COMPRESSED, 0, 6,
      "\xfd"
      "7zXZ\0",
      NULL, "compressed by xz", UNPACK },
    { FILE_COMPRESSED, 0, 4, "\x28\xb5\x2f\xfd", NULL, "compressed by zstd", UNPACK },
    { FILE_COMPRESSED, 0, 3, "BZh", NULL, "compressed by bzip2", UNPACK },
    { FILE_COMPRESSED, 0, 6, "7z\xbc\xaf\x27\x1c", NULL, "a 7-Zip archive", UNPACK },
    { FILE_TAR, 257, 5, "ustar", NULL, "a tar archive", UNPACK },
    { FILE_PDF, 0, 5, "%PDF-", NULL, "a PDF document", "fetch the file itself" },
    { FILE_PIECES, 0, 0, NULL, is_pieces, "a SentencePiece tokenizer", FOLDER },
    { FILE_ZEROS, 0, 0, NULL, is_zeros, "a file of zeros",
      "nothing was saved in it, or it did not arrive: fetch it again" },
    { FILE_TEXT, 0, 0, NULL, is_text, NULL, "fetch the file again" },
};

enum { N_RULES = sizeof rules / sizeof rules[0] };

#define TAKES(kind) (1u << (kind))

#define ITS_NAME "a wrong file has this name: fetch the right one"

/* The kinds that each place takes. If a file is of a kind that another place takes, `cure` replaces
 * the rule's advice; for an adapter, it always does. */
static const struct {
    const char *wanted;
    uint32_t takes; /* bits of file_kind */
    const char *cure;
} places[FILE_PLACES] = {
    [PLACE_MODEL] = { "a model", TAKES(FILE_GGUF) | TAKES(FILE_INGOT), NULL },
    [PLACE_GGUF_PART] = { "a part of a split GGUF", TAKES(FILE_GGUF), ITS_NAME },
    [PLACE_SAFETENSORS] = { "safetensors", TAKES(FILE_SAFETENSORS), ITS_NAME },
    [PLACE_JSON] = { "JSON", TAKES(FILE_JSON), ITS_NAME },
    [PLACE_PIECES] = { "a SentencePiece tokenizer", TAKES(FILE_PIECES), ITS_NAME },
    [PLACE_TOKENIZER] = { "a llama2.c tokenizer", 0, NULL },
    [PLACE_TEMPLATE] = { "a chat template", TAKES(FILE_TEXT) | TAKES(FILE_JSON), ITS_NAME },
    [PLACE_INGOT] = { "an .ingot file", TAKES(FILE_INGOT), "ingot pack makes one from a model" },
    [PLACE_ADAPTER] = { "an adapter", TAKES(FILE_GGUF),
                        "give a GGUF, or a PEFT folder with adapter_config.json and "
                        "adapter_model.safetensors" },
};

static size_t find_by_beginning(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < N_RULES; i++) {
        size_t at = rules[i].at, n = rules[i].n;

        if (n != 0 && (bytes < at + n || memcmp(data + at, rules[i].magic, n) != 0)) {
            continue;
        }
        if (rules[i].is == NULL || rules[i].is(data, bytes)) {
            return i;
        }
    }
    return N_RULES;
}

/* The first save goes to the second half of a file; the first half is zero until the next save
 * (runtime/saved/saved_chat.h). */
static size_t find_rule(const uint8_t *data, size_t bytes)
{
    size_t half = bytes / 2 / LOOK_BYTES * LOOK_BYTES;
    size_t first = find_by_beginning(data, bytes), second;

    if (first == N_RULES || rules[first].kind != FILE_ZEROS) {
        return first;
    }
    second = find_by_beginning(data + half, bytes - half);
    return second != N_RULES && rules[second].kind == FILE_OWN ? second : first;
}

enum file_kind file_kind_of(const uint8_t *data, size_t bytes)
{
    size_t i = find_rule(data, bytes);

    if (i == N_RULES) {
        return FILE_UNKNOWN;
    }
    return rules[i].kind;
}

static const char *cure_of(size_t rule, enum file_place place)
{
    if ((rules[rule].kind <= FILE_PIECES || place == PLACE_ADAPTER) && places[place].cure != NULL) {
        return places[place].cure;
    }
    return rules[rule].cure;
}

/* Write what follows "is" in the error message. */
static void describe(size_t rule, enum file_place place, const uint8_t *data, size_t bytes,
                     char *text, size_t text_bytes)
{
    const uint8_t *at = first_word(data, &bytes);
    size_t n = 0;

    if (rules[rule].kind == FILE_LFS_POINTER) {
        snprintf(text, text_bytes, "a Git LFS pointer of %zu %s, not the file", bytes,
                 plural(bytes, "byte", "bytes"));
        return;
    }
    if (rules[rule].kind == FILE_HTML) {
        snprintf(text, text_bytes, "%s, not the file", rules[rule].what);
        return;
    }
    if (rules[rule].kind == FILE_OWN) {
        snprintf(text, text_bytes, "%s%s", rules[rule].what,
                 place == PLACE_ADAPTER ? " of Ingot already" : "");
        return;
    }
    if (rules[rule].kind != FILE_TEXT) {
        snprintf(text, text_bytes, "%s, not %s", rules[rule].what, places[place].wanted);
        return;
    }
    while (n < bytes && n < LINE_BYTES && at[n] != '\n' && at[n] != '\r') {
        int character = utf8_check(at + n, bytes - n);

        if (character < 1) { /* is_text() has not checked this part */
            break;
        }
        n += (size_t)character;
    }
    snprintf(text, text_bytes, "a text file (\"%.*s\"), not %s", (int)n, (const char *)at,
             places[place].wanted);
}

bool file_kind_suits(enum file_place place, const uint8_t *data, size_t bytes, char *error_message,
                     size_t error_message_bytes)
{
    size_t rule = find_rule(data, bytes);
    char what[160];
    bool own;

    if (rule == N_RULES || (places[place].takes & TAKES(rules[rule].kind)) != 0) {
        return true;
    }
    own = rules[rule].kind == FILE_OWN;
    describe(rule, place, data, bytes, what, sizeof what);
    snprintf(error_message, error_message_bytes, own ? "is %s: %s" : "is %s; %s", what,
             cure_of(rule, place));
    return false;
}
