"""Memory of the caller for objects of the library."""

import ctypes


class AlignedMemory:
    """Memory for an object of the library, between bytes that it must not touch."""
    GUARD = b"guard" * 20

    def __init__(self, size, align):
        self.size = size
        self.buffer = ctypes.create_string_buffer(size + align + 2 * len(self.GUARD))
        begin = ctypes.addressof(self.buffer) + len(self.GUARD)
        self.address = begin + -begin % align
        for at in (self.address - len(self.GUARD), self.address + size):
            ctypes.memmove(at, self.GUARD, len(self.GUARD))

    def untouched_outside(self):
        return all(ctypes.string_at(at, len(self.GUARD)) == self.GUARD
                   for at in (self.address - len(self.GUARD), self.address + self.size))
