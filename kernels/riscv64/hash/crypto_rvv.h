/* Instructions of Zvknha by their names: the assembler of Debian 12 (binutils 2.40) does not know
 * them. Encodings are from "RISC-V Cryptography Extensions Volume II", 1.0; comments at their uses
 * explain them. */
#ifndef INGOT_KERNELS_RISCV64_CRYPTO_RVV_H
#define INGOT_KERNELS_RISCV64_CRYPTO_RVV_H

.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
.set number_of_v\n, \n
.endr

/* OP-VE, OPMVV, not masked: funct6 vm vs2 vs1 010 vd 1110111. */
.macro vector_crypto funct6, vd, vs2, vs1
    .insn 0x02002077 | (\funct6) << 26 | number_of_\vs2 << 20 | number_of_\vs1 << 15 | number_of_\vd << 7
.endm

.macro vsha2ms.vv vd, vs2, vs1
    vector_crypto 0b101101, \vd, \vs2, \vs1
.endm

.macro vsha2ch.vv vd, vs2, vs1
    vector_crypto 0b101110, \vd, \vs2, \vs1
.endm

.macro vsha2cl.vv vd, vs2, vs1
    vector_crypto 0b101111, \vd, \vs2, \vs1
.endm

#endif
