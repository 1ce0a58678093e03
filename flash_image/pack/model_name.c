#include "flash_image/pack/model_name.h"

#include <string.h>

#include "runtime/text/utf8.h"

/* Replace control characters by '_'; also all bytes beyond ASCII if the name is not valid UTF-8.
 * cut: the name is the beginning of a longer one, and may end inside a character. */
static void clean_name(char name[64], bool cut)
{
    size_t n = strlen(name), whole = utf8_whole_bytes(name, n);
    bool utf8 = whole == n || (cut && utf8_check((const uint8_t *)name + whole, n - whole) == 0);

    if (utf8) {
        name[whole] = '\0';
    }
    for (size_t i = 0; name[i] != '\0'; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c < 32 || c == 127 || (c >= 128 && !utf8)) {
            name[i] = '_';
        }
    }
}

/* The length of a name without an ending such as "-00001-of-00003" of a model's parts. */
static size_t without_part(const char *name, size_t bytes)
{
    static const char form[] = "-00000-of-00000";
    size_t m = sizeof form - 1;

    if (bytes <= m) {
        return bytes;
    }
    for (size_t i = 0; i < m; i++) {
        char c = name[bytes - m + i];

        if (form[i] == '0' ? c < '0' || c > '9' : c != form[i]) {
            return bytes;
        }
    }
    return bytes - m;
}

/* The name of the file, without folder and ending. */
static struct source_text name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot;

    if (slash != NULL) {
        path = slash + 1;
    }
    dot = strrchr(path, '.');
    if (dot == NULL || dot == path) {
        return (struct source_text){ (const uint8_t *)path, strlen(path) };
    }
    return (struct source_text){ (const uint8_t *)path, without_part(path, (size_t)(dot - path)) };
}

void model_name(const struct source *s, char name[64])
{
    struct source_text text = s->name;

    if (text.bytes == 0 || text.data[0] == '\0') {
        text = name_of_file(s->path);
    }
    memcpy(name, text.data, min_size(text.bytes, 63));
    clean_name(name, text.bytes > 63);
}
