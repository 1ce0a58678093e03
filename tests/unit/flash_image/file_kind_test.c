/* Kinds of files by their first bytes: every row of the table, files that are right in their place,
 * and headers of llama2.c, which have no magic and must be taken for nothing else. */
#include <string.h>

#include "flash_image/format/adapter.h"
#include "flash_image/format/signature.h"
#include "flash_image/source/file_kind.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

static char error_message[320];

static bool suits(enum file_place place, const void *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes != 0 ? bytes : 1); /* exactly its size, for ASan */
    bool good;

    if (copy == NULL) {
        abort();
    }
    if (bytes != 0) {
        memcpy(copy, data, bytes);
    }
    error_message[0] = '\0';
    good = file_kind_suits(place, copy, bytes, error_message, sizeof error_message);
    free(copy);
    return good;
}

static void test_kinds(void)
{
    static const char zeros[513] = { 0 };
    static const struct {
        const char *data;
        size_t bytes;
        enum file_kind kind;
        const char *
            words; /* words of the error message where a model is wanted; NULL: it is right there */
    } rows[] = {
#define ROW(text, kind, words) { text, sizeof text - 1, kind, words }
        ROW(INGOT_MAGIC "\3\0\0\0", FILE_INGOT, NULL),
        ROW("GGUF\3\0\0\0", FILE_GGUF, NULL),
        ROW("\2\0\0\0\0\0\0\0{}", FILE_SAFETENSORS, "a safetensors file, not a model"),
        ROW("{\"a\": 1}", FILE_JSON, "a JSON file, not a model"),
        ROW("\xef\xbb\xbf \n[1, 2]", FILE_JSON, "a JSON file"),
        ROW("\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02", FILE_PIECES, "a SentencePiece tokenizer"),
        ROW("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", FILE_LFS_POINTER,
            "a Git LFS pointer of 63 bytes, not the file; git lfs pull fetches it"),
        ROW("\xef\xbb\xbf\r\n <!doctype HTML>", FILE_HTML, "an HTML page, not the file"),
        ROW("<html lang=en>", FILE_HTML, "an HTML page"),
        ROW("PK\3\4\x14\0\0\0\0\0archive/data.pkl", FILE_TORCH_ZIP, "PyTorch checkpoint (zip)"),
        ROW("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", FILE_TORCH_PICKLE, "PyTorch checkpoint (pickle)"),
        ROW("\x80\x04\x95\0", FILE_TORCH_PICKLE, "PyTorch checkpoint (pickle)"),
        ROW("PK\3\4\x14\0\0\0\0\0arr_0.npy", FILE_NUMPY, "a NumPy archive"),
        ROW("\x93NUMPY\1\0", FILE_NUMPY, "a NumPy file"),
        ROW("\x89HDF\r\n\x1a\n", FILE_HDF5, "an HDF5 (Keras) file"),
        ROW("\x1c\0\0\0TFL3", FILE_TFLITE, "a TensorFlow Lite model"),
        ROW("\x08\x07\x12\x07pytorch", FILE_ONNX, "an ONNX model"),
        ROW("\x08\x09\x3a\x10\0\0", FILE_ONNX, "an ONNX model"),
        ROW("tjgg\3\0\0\0", FILE_GGML, "(ggjt) from before GGUF"),
        ROW("fmgg\1\0\0\0", FILE_GGML, "(ggmf) from before GGUF"),
        ROW("lmgg\0\0\0\0", FILE_GGML, "a GGML file from before GGUF"),
        ROW("algg\1\0\0\0", FILE_GGML, "a GGML adapter (ggla)"),
        ROW("PK\3\4\x14\0\0\0\0\0model.gguf", FILE_ZIP, "a zip archive, not a model; unpack it"),
        ROW("\x1f\x8b\x08\0", FILE_GZIP, "compressed by gzip"),
        ROW("\xfd"
            "7zXZ\0\0",
            FILE_COMPRESSED, "compressed by xz"),
        ROW("\x28\xb5\x2f\xfd\0", FILE_COMPRESSED, "compressed by zstd"),
        ROW("BZh9", FILE_COMPRESSED, "compressed by bzip2"),
        ROW("7z\xbc\xaf\x27\x1c", FILE_COMPRESSED, "a 7-Zip archive"),
        ROW(ADAPTER_MAGIC "\1\0\0\0", FILE_OWN,
            "is an adapter: give its model, and --adapter FILE"),
        ROW("GRLG\1\0\0\0", FILE_OWN, "is a compiled grammar: give a model, and --grammar FILE"),
        ROW(SIGNATURE_MAGIC "\1\0\0\0", FILE_OWN, "is a signature"),
        ROW("INGOTSAV\1\0\0\0", FILE_OWN, "is a saved conversation: give its model"),
        ROW("INGOTPRE\1\0\0\0", FILE_OWN, "is a saved prefix"),
        ROW("INGOTLRN\1\0\0\0", FILE_OWN, "is saved lessons"),
        ROW("INGOTPOL\1\0\0\0", FILE_OWN, "is a saved policy"),
        ROW("INGOTFAB\1\0\0\0", FILE_OWN, "is a saved memory fabric"),
        ROW("INGOTREC\1\0\0\0", FILE_OWN, "is a log of turns"),
        ROW("INGOTUSE\1\0\0\0", FILE_OWN, "is a record of how experts"),
        ROW(zeros, FILE_ZEROS, "is a file of zeros"),
        ROW("%PDF-1.7\n%\0", FILE_PDF, "a PDF document"),
        ROW("  Entry not found\r\n", FILE_TEXT, "a text file (\"Entry not found\"), not a model"),
        ROW("\xc3\xa9t\xc3\xa9\n", FILE_TEXT, "a text file (\"\xc3\xa9t\xc3\xa9\")"),
        ROW("\xff\xff\xff\xff\xff", FILE_UNKNOWN, NULL),
        ROW("\xc3\xa9t\xc3", FILE_UNKNOWN, NULL),
        ROW("{% for message in messages %}", FILE_TEXT, "a text file"),
        ROW("", FILE_UNKNOWN, NULL),
        ROW("GGU", FILE_UNKNOWN, NULL),
        ROW("\1\2\3", FILE_UNKNOWN, NULL),
        ROW("\x80\x02\0\0", FILE_UNKNOWN, NULL), /* a width of 640 */
#undef ROW
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool right = suits(PLACE_MODEL, rows[i].data, rows[i].bytes);
        enum file_kind kind = file_kind_of((const uint8_t *)rows[i].data, rows[i].bytes);

        OK(kind == rows[i].kind && right == (rows[i].words == NULL) &&
               (right || strstr(error_message, rows[i].words) != NULL),
           "a file of kind %d is recognized as %d: %s", (int)kind, (int)rows[i].kind,
           error_message);
    }
}

/* White space over everything that is looked at, and then bytes that are not text. */
static void test_long_space(void)
{
    static char text[600];

    memset(text, ' ', sizeof text);
    memcpy(text + 590, "\xff\xff\xff", 3);
    OK(!suits(PLACE_MODEL, text, 593) && strstr(error_message, "a text file (\"\")") != NULL,
       "a text after much white space is refused as a text: %s", error_message);
}

/* The first save of a file lies in its second half. */
static void test_halves(void)
{
    static const char *const marks[] = { "INGOTSAV", "INGOTPRE", "INGOTLRN", "INGOTUSE" };
    static char file[5000];

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        memcpy(file + 2048, marks[i], 8);
        OK(!suits(PLACE_MODEL, file, sizeof file) &&
               file_kind_of((const uint8_t *)file, sizeof file) == FILE_OWN,
           "%s is recognized in the second half: %s", marks[i], error_message);
    }
    memcpy(file + 2048, "GGUF\3\0\0", 8);
    OK(file_kind_of((const uint8_t *)file, sizeof file) == FILE_ZEROS,
       "a file does not begin like a model in its second half");
}

static void test_tar(void)
{
    static char block[512];

    memcpy(block, "model.gguf", 10);
    memcpy(block + 257, "ustar", 5);
    OK(!suits(PLACE_MODEL, block, sizeof block) && strstr(error_message, "a tar archive") != NULL,
       "a tar archive is refused: %s", error_message);
    OK(suits(PLACE_MODEL, block, 261), "a tar archive cut in its magic is not known");
}

/* Version 0 begins with its width: no possible width of a model looks like another format, with
 * usual numbers behind it. */
static void test_llama2c(void)
{
    uint32_t wrong = 0;

    for (uint32_t dim = 1; dim <= INGOT_MAX_DIM; dim++) {
        uint32_t header[7] = { dim, 4 * dim, 6, 6, 6, 32000, 256 };

        wrong += file_kind_of((const uint8_t *)header, sizeof header) != FILE_UNKNOWN;
    }
    OK(wrong == 0, "none of %d widths of llama2.c is taken for another format (%u)", INGOT_MAX_DIM,
       wrong);
}

static void test_places(void)
{
    static const char gguf[] = "GGUF\3\0\0", json[] = "{\"a\": 1}", text[] = "some template";

    OK(!suits(PLACE_SAFETENSORS, gguf, sizeof gguf) &&
           strstr(error_message, "a GGUF file, not safetensors; a wrong file has this name") !=
               NULL,
       "a GGUF file in the place of safetensors is refused: %s", error_message);
    OK(!suits(PLACE_TOKENIZER, json, sizeof json - 1) &&
           strstr(error_message, "not a llama2.c tokenizer; it is a part") != NULL,
       "a JSON file in the place of a tokenizer is refused: %s", error_message);
    OK(!suits(PLACE_ADAPTER, INGOT_MAGIC, 8) &&
           strstr(error_message, "an .ingot file, not an adapter; give a GGUF, or a PEFT") != NULL,
       "an .ingot file in the place of an adapter is refused: %s", error_message);
    OK(!suits(PLACE_ADAPTER, ADAPTER_MAGIC, 8) &&
           strstr(error_message, "an adapter of Ingot already: give a GGUF, or a PEFT") != NULL,
       "an adapter of Ingot in the place of another adapter is refused: %s", error_message);
    OK(!suits(PLACE_INGOT, gguf, sizeof gguf) &&
           strstr(error_message, "ingot pack makes one") != NULL,
       "a GGUF file in the place of an .ingot file is refused: %s", error_message);
    OK(suits(PLACE_JSON, json, sizeof json - 1) && suits(PLACE_TEMPLATE, text, sizeof text - 1),
       "JSON and a template suit their places");
    OK(!suits(PLACE_JSON, text, sizeof text - 1) && strstr(error_message, "not JSON") != NULL,
       "a text in the place of JSON is refused: %s", error_message);
}

int main(void)
{
    test_kinds();
    test_halves();
    test_tar();
    test_long_space();
    test_llama2c();
    test_places();
    return tap_done();
}
