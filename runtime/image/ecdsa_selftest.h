/* Check signature verification against published vectors, and against bad signatures. */
#ifndef INGOT_RUNTIME_ECDSA_SELFTEST_H
#define INGOT_RUNTIME_ECDSA_SELFTEST_H

/* Check the signatures of RFC 6979, A.2.5, with SHA-256; each of them damaged in every way that
 * a verifier must detect; and a key that is not a point of the curve. Return NULL after success;
 * otherwise a noun that names the failed case. */
const char *ecdsa_selftest(void);

#endif
