"""Runs functions of the process that started it on an emulated CPU, for instructions that the
machine lacks: a Xeon of the Sapphire Rapids kind, by Bochs (the package bochscpu-python).

Each line of the input is the address of a function, the end of its stack and its arguments, in
hexadecimal. The function reads the memory of the process that started this one; what it wrote is
written back there. The answer is "done", or what went wrong. Functions may call others, but not
the system."""
import ctypes
import os
import sys

import bochscpu
import bochscpu.cpu
import bochscpu.memory

PAGE = 4096
PAGE_TABLES = 0x100000  # Physical addresses: of these, and of the pages that they name.
FIRST_PAGE = 0x20000000
SAPPHIRE_RAPIDS = 30
HALT = b"\xf4" * PAGE
CR4_BITS = (5, 9, 10, 18)  # Large addresses, SSE, its exceptions, XSAVE.
XCR0 = 0xe7  # All vectors and masks.


class Emulator:
    def __init__(self, process):
        choose_model()
        self.maps = f"/proc/{process}/maps"
        self.memory = os.open(f"/proc/{process}/mem", os.O_RDWR)
        self.session = bochscpu.Session()
        self.session.missing_page_handler = self.read_page
        self.physical = {}  # By virtual page, and back.
        self.virtual = {}
        self.next_place = FIRST_PAGE
        self.code = set()  # Virtual pages.
        self.pages = {}  # By physical page: what was read, and where the emulator has it.
        self.known_maps = None
        self.halt = 0

    def call(self, function, stack, arguments):
        self.read_again()
        self.map_all()
        self.write(stack - 8, self.halt.to_bytes(8, "little"))
        self.session.cpu.state = self.state(function, stack - 8, arguments)
        self.error = None
        hook = bochscpu.Hook()
        hook.exception = self.on_exception
        hook.hlt = lambda session, *_: session.stop()
        self.session.run([hook])
        if self.error:
            raise RuntimeError(self.error)
        for page, (before, host) in self.pages.items():
            after = ctypes.string_at(host, PAGE)
            if after != before:
                self.write(self.virtual[page], after)

    def read_again(self):
        """What the process has changed. Code is remembered by its physical page."""
        for page, (before, host) in list(self.pages.items()):
            after = self.fill(page, host)
            self.pages[page] = after, host
            if after != before and self.virtual[page] in self.code:
                del self.physical[self.virtual[page]]
                del self.pages[page]
                self.known_maps = None

    def write(self, address, content):
        os.pwrite(self.memory, content, address)
        page = self.physical[address & -PAGE]
        if page in self.pages:
            host = self.pages[page][1]
            self.pages[page] = self.fill(page, host), host

    def on_exception(self, session, cpu, vector, code):
        self.error = f"exception {int(vector)} at {session.cpu.state.rip:#x}"
        session.stop()

    def map_all(self):
        """Names all pages of the process, and one that ends the emulation: functions return
        there. Pages are read when they are needed."""
        with open(self.maps) as file:
            maps = file.read()
        if maps == self.known_maps:
            return
        self.known_maps = maps
        self.tables = bochscpu.memory.PageMapLevel4Table()  # It owns them.
        end = 0
        for line in maps.splitlines():
            span, rights = line.split()[:2]
            first, last = (int(part, 16) for part in span.split("-"))
            if end and first > end + 4 * PAGE and not self.halt:
                self.halt = end + 2 * PAGE
            end = last
            if rights[0] == "r" and "[v" not in line:
                for page in range(first, last, PAGE):
                    self.name(page)
                    if rights[2] == "x":
                        self.code.add(page)
        self.name(self.halt)
        for host, place in self.tables.commit(PAGE_TABLES):
            bochscpu.memory.page_insert(place, host)

    def name(self, page):
        place = self.physical.setdefault(page, self.next_place)
        if place == self.next_place:
            self.next_place += PAGE
            self.virtual[place] = page
        self.tables.insert(page, place, 1)

    def read_page(self, place):
        page = place & -PAGE
        host = bochscpu.memory.allocate_host_page()
        bochscpu.memory.page_insert(page, host)
        self.pages[page] = self.fill(page, host), host

    def fill(self, page, host):
        virtual = self.virtual[page]
        content = HALT
        if virtual != self.halt:
            try:
                content = os.pread(self.memory, PAGE, virtual)
            except OSError:  # The process has given it back.
                content = bytes(PAGE)
        ctypes.memmove(host, content, PAGE)
        return content

    def state(self, function, stack, arguments):
        state = bochscpu.State()
        bochscpu.cpu.set_long_mode(state)
        state.cr3 = PAGE_TABLES
        control = int(state.cr4) | sum(1 << bit for bit in CR4_BITS)
        state.cr4 = bochscpu.cpu.ControlRegister(control)
        state.xcr0 = bochscpu.cpu.ControlRegister(XCR0)
        state.mxcsr, state.mxcsr_mask = 0x1f80, 0xffff
        for register, value in zip(("rdi", "rsi", "rdx", "rcx", "r8", "r9"), arguments):
            setattr(state, register, value)
        state.rsp, state.rip = stack, function
        state.cs = segment(0x10, 0x209b)
        data = segment(0x18, 0xc93)
        state.ds = state.ss = state.es = state.fs = state.gs = data
        return state


def segment(selector, attributes):
    made = bochscpu.Segment()
    made.present, made.selector, made.attr = True, selector, attributes
    made.base, made.limit = 0, 0xffffffff
    return made


def choose_model():
    """The package has no call for it, but the library's symbols; before the first session."""
    library = ctypes.CDLL(bochscpu._bochscpu.__file__)
    get = library._ZN13bx_real_sim_c14get_param_enumEPKcP10bx_param_c
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    put = library._ZN15bx_param_enum_c3setEl
    put.argtypes = [ctypes.c_void_p, ctypes.c_long]
    simulator = ctypes.c_void_p.in_dll(library, "SIM").value
    put(get(simulator, b"cpu.model", None), SAPPHIRE_RAPIDS)


def main():
    emulator = Emulator(os.getppid())
    for line in sys.stdin:
        function, stack, *arguments = (int(word, 16) for word in line.split())
        try:
            emulator.call(function, stack, arguments)
            print("done", flush=True)
        except (RuntimeError, OSError) as error:
            print(error, flush=True)


if __name__ == "__main__":
    main()
