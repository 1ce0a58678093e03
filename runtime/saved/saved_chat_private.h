/* Common parts of writing and reading a saved conversation: headers, and moving bytes. */
#ifndef INGOT_RUNTIME_SAVED_CHAT_PRIVATE_H
#define INGOT_RUNTIME_SAVED_CHAT_PRIVATE_H

#include "runtime/saved/saved_chat.h"

enum { SAVED_CHAT_VERSION = 4 };

/* The contents of a payload, checked while it is read. */
struct saved_chat_contents {
    const struct saved_chat_header *header;
    uint32_t vocab;
    uint32_t id; /* an id that begins in one buffer and ends in the next */
    bool wrong;
};

/* Fill h with the description of the state, but not the fields that depend on the payload's bytes
 * and on earlier saves. */
void saved_chat_describe(const struct saved_chat_state *state, struct saved_chat_header *h);
/* Return the CRC of the file's model, and of the keys' rotation if the file has keys. */
uint32_t saved_chat_model_crc(const struct session *session, enum saved_kind kind);
/* Bytes of the payload that h describes. */
uint64_t saved_chat_payload_bytes(const struct saved_chat_state *state,
                                  const struct saved_chat_header *h);
/* Begin an operation on the file: nothing is moved yet. */
void saved_chat_begin(struct saved_chat *s, const struct file *file,
                      const struct saved_chat_state *state, saved_chat_progress_fn *progress,
                      void *context);
/* Add the payload's sectors to the total of the progress, because they will be moved. */
void saved_chat_expect(struct saved_chat *s, const struct saved_chat_header *h);

/* Return the name of the command that writes the file. */
const char *saved_chat_command(const struct saved_chat *s);
/* Return the 8 bytes with which the file's headers begin. */
const char *saved_chat_magic(const struct saved_chat *s);

/* Return the header of a half, as the card has it. */
const struct saved_chat_header *saved_chat_header_of(const struct saved_chat *s, unsigned half);

/* Read both headers. Errors of halves_read. */
enum err saved_chat_read_headers(struct saved_chat *s);

/* Read the payload of a half, only to check its CRC; contents may be NULL. ERR_BAD_CHECKSUM: the
 * CRC does not match the header. Errors of file.h; ERR_ABORTED. */
enum err saved_chat_check(struct saved_chat *s, unsigned half, const struct saved_chat_header *h,
                          const char *label, struct saved_chat_contents *contents);

/* Move the payload of h between the state and a half; *crc is the CRC of its bytes. Errors of
 * file.h and of session_move, ERR_ABORTED. */
enum err saved_chat_move_payload(struct saved_chat *s, unsigned half,
                                 const struct saved_chat_state *state,
                                 const struct saved_chat_header *h, bool writes, uint32_t *crc);

#endif
