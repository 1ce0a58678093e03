/* Files that arrive over the line: from `ingot send` in frames, from any terminal program by
 * YMODEM. */
#ifndef INGOT_RUNTIME_APP_RECEIVE_H
#define INGOT_RUNTIME_APP_RECEIVE_H

#include "runtime/app/app_files.h"
#include "runtime/transfer/transfer_receive.h"
#include "runtime/transfer/ymodem.h"

struct app;

enum { RECEIVE_BATCH = 32 /* files of one YMODEM batch */, RECEIVE_PATH_BYTES = 96 };

/* A file that has arrived. */
struct app_received {
    char path[RECEIVE_PATH_BYTES];
    uint64_t bytes, ms;
};

struct app_receive {
    union {
        struct transfer transfer;
        struct ymodem ymodem;
    };
    char path[RECEIVE_PATH_BYTES], error_message[320]; /* the current file */
    const char *folder;                                /* folder for YMODEM; NULL: the file's name
                                                        * decides */
    uint64_t bytes, started_ms;
    struct app_received
        came[RECEIVE_BATCH]; /* files of the YMODEM batch so far, kept because the sender has the
                              * line until the batch ends */
    unsigned n_came;
    bool replaced_model; /* the current model reads clusters that have been freed */
};

/* Receive a file of `bytes` bytes from a program that sends frames. baud is the fastest rate of the
 * program, or 0 to keep the rate of the line. Prints how the transfer ended. */
void app_receive_frames(struct app *a, const char *path, uint64_t bytes, uint32_t baud);

/* Receive files by YMODEM into folder; if it is "", the files' names decide. Prints how the
 * transfer ended. */
void app_receive_ymodem(struct app *a, const char *folder);

/* For a file that does not arrive over the line: reserve room for the file, then publish it on the
 * card. No transfer may be using the line. After an error a->receive.error_message has the message.
 * Returns errors of storage_new_open and storage_new_publish. ERR_BUSY: the file would replace the
 * loaded model, so load another model first. */
enum err app_receive_open(struct app *a, const char *path, uint64_t bytes,
                          const struct file **file);
enum err app_receive_close(struct app *a);

#endif
