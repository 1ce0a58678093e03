/* Texts with fields that are filled in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/card/card_board.h"

char *card_read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;

    if (f == NULL) {
        return NULL;
    }
    if (getdelim(&text, &room, '\0', f) < 0) { /* the file is empty, or cannot be read */
        free(text);
        text = ferror(f) ? NULL : strdup("");
    }
    fclose(f);
    return text;
}

/* Return the field at the start of text; NULL: there is none. */
static const struct card_place *place_at(const struct card_place *places, const char *text)
{
    for (; places->name != NULL; places++) {
        size_t bytes = strlen(places->name);

        if (text[0] == '@' && strncmp(text + 1, places->name, bytes) == 0 &&
            text[1 + bytes] == '@') {
            return places;
        }
    }
    return NULL;
}

static void put_text(FILE *out, const char *text, bool crlf)
{
    for (; *text != '\0'; text++) {
        if (crlf && *text == '\n') {
            putc('\r', out);
        }
        putc(*text, out);
    }
}

/* Write a line, given without its end, with its fields filled in. */
static void fill_line(FILE *out, char *line, const struct card_place *places, bool crlf)
{
    const struct card_place *whole = place_at(places, line);

    if (whole != NULL && line[strlen(whole->name) + 2] == '\0' && whole->value[0] == '\0') {
        return;
    }
    while (*line != '\0') {
        const struct card_place *place = place_at(places, line);

        if (place != NULL) {
            put_text(out, place->value, crlf);
            line += strlen(place->name) + 2;
        } else {
            putc(*line++, out);
        }
    }
    put_text(out, "\n", crlf);
}

char *card_fill_in(const char *path, const struct card_place *places, bool crlf, size_t *bytes)
{
    char *source = card_read_text(path);
    char *text = NULL;
    FILE *out;

    if (source == NULL) {
        return NULL;
    }
    out = open_memstream(&text, bytes);
    for (char *line = source; out != NULL && *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        char *next = *end == '\0' ? end : end + 1;

        *end = '\0';
        fill_line(out, line, places, crlf);
        line = next;
    }
    if (out != NULL) {
        fclose(out);
    }
    free(source);
    return text;
}

/* U-Boot removes a backslash before any character, drops single quotes and expands variables
 * (cli_simple_process_macros). U-Boot keeps the character after a backslash as it is, even a second
 * backslash. Before that, U-Boot searches `append` for its option "initrd=". If `append` is empty,
 * U-Boot refuses the whole file (T_APPEND of pxe_utils.c), so an empty text becomes two single
 * quotes, which add nothing. */
char *card_words_append(const char *words)
{
    static const char own[] = "initrd=";
    char *escaped = malloc(2 * strlen(words) + sizeof "''"), *to = escaped;
    size_t to_equals = sizeof own - 2;

    if (escaped != NULL && words[strspn(words, " \t")] == '\0') {
        return strcpy(escaped, "''");
    }
    for (const char *at = words; escaped != NULL && *at != '\0'; at++) {
        bool special = strchr("\\'$", *at) != NULL && (at == words || at[-1] != '\\');
        size_t before = (size_t)(at - words);

        if (special || (before >= to_equals && strncmp(at - to_equals, own, sizeof own - 1) == 0)) {
            *to++ = '\\';
        }
        *to++ = *at;
    }
    if (escaped != NULL) {
        *to = '\0';
    }
    return escaped;
}

/* U-Boot removes a backslash before any character (himport_r). */
char *card_words_env(const char *words)
{
    char *escaped = malloc(2 * strlen(words) + 1), *to = escaped;

    for (; escaped != NULL && *words != '\0'; words++) {
        if (*words == '\\') {
            *to++ = '\\';
        }
        *to++ = *words;
    }
    if (escaped != NULL) {
        *to = '\0';
    }
    return escaped;
}
