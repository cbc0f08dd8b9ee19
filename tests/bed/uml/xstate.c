/*
 * Makes Debian's user-mode kernel (6.1) run on processors with AMX. It reads and writes the floating point state of its
 * processes by ptrace into a buffer of 2,696 bytes; with AMX the host's state is 11,008 bytes, and Linux refuses to set
 * a part of it ("userspace - ptrace set fp regs failed, errno = 14", then a panic at the first process).
 *
 * Loaded with LD_PRELOAD, this asks for the whole state, hands on the part that the kernel knows, and puts that part
 * back into the whole. Tile registers, which no program here uses, are cut off. Elsewhere it changes nothing.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char whole[1 << 16];

static long state(enum __ptrace_request request, pid_t pid, void *kind, struct iovec *part)
{
    struct iovec all = {whole, sizeof whole};

    if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, kind, &all) < 0)
        return -1;
    if (part->iov_len > all.iov_len)
        part->iov_len = all.iov_len;
    if (request == PTRACE_GETREGSET) {
        memcpy(part->iov_base, whole, part->iov_len);
        return 0;
    }
    memcpy(whole, part->iov_base, part->iov_len);
    return syscall(SYS_ptrace, request, pid, kind, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list words;
    va_start(words, request);
    pid_t pid = va_arg(words, pid_t);
    void *address = va_arg(words, void *);
    void *data = va_arg(words, void *);
    va_end(words);

    if ((request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) && (long)address == NT_X86_XSTATE)
        return state(request, pid, address, data);
    if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
        /* the bare call stores the word at `data`; the C function returns it */
        long word, failed = syscall(SYS_ptrace, request, pid, address, &word);
        if (failed < 0)
            return failed;
        errno = 0;
        return word;
    }
    return syscall(SYS_ptrace, request, pid, address, data);
}
