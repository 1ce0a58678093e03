/* Finds the files of boards that a card needs. */
#ifndef INGOT_HOST_CARD_BOARDS_H
#define INGOT_HOST_CARD_BOARDS_H

#include <stdbool.h>
#include <stddef.h>

/* Write to path (bytes) the folder of boards that belongs to this program: share/ingot/boards near
 * the program (in a release or after `make install`), or the build folder of a checkout. False:
 * there is none. */
bool card_boards_find(char *path, size_t bytes);

#endif
