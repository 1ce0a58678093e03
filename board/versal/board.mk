ISA := arm64
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M xlnx-versal-virt -m 512M -nographic -nic none
QEMU_CARD = -drive if=sd,index=0,format=raw,file=$(1)
# QEMU accepts only this number of cores; two of them are Cortex-R5, which we do not use. With `cores=1`
# Ingot uses one.
QEMU_SMP := 4
KERNELS_WITHOUT := dotprod i8mm sve
# make run NETWORK=yes: the board's server is at port 8080 of this computer.
QEMU_NETWORK ?= -nic user,id=lan,model=cadence_gem,hostfwd=tcp:127.0.0.1:8080-:80
