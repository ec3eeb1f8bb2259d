"""Runs functions of the process that started it on an emulated CPU, for instructions that the
machine lacks: a Xeon of the Sapphire Rapids kind, by Bochs (the package bochscpu-python), whose
tile registers, which the package lacks, are emulated_tiles.py.

Each line of the input is the address of a function, the end of its stack and its arguments, in
hexadecimal. The function reads the memory of the process that started this one; the words that it
changed are written back there, and no others: that process is still on its way from writing the line
to waiting for the answer. The answer is "done", or what went wrong. Functions may call others, but not
the system."""
import array
import ctypes
import os
import sys

import bochscpu
import bochscpu.cpu
import bochscpu.memory

import emulated_tiles

PAGE = 4096
PAGE_TABLES = 0x100000  # Physical addresses: of these, and of the pages that they name.
FIRST_PAGE = 0x20000000
SAPPHIRE_RAPIDS = 30
HALT = b"\xf4" * PAGE
CR4_BITS = (5, 9, 10, 18)  # Large addresses, SSE, its exceptions, XSAVE.
XCR0 = 0xe7  # All vectors and masks.
UNKNOWN_INSTRUCTION = 6


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
        self.tiles = emulated_tiles.Tiles(self.read, self.write_back)

    def call(self, function, stack, arguments):
        self.read_again()
        self.map_all()
        self.write(stack - 8, self.halt.to_bytes(8, "little"))
        self.session.cpu.state = self.state(function, stack - 8, arguments)
        hook = bochscpu.Hook()
        hook.exception = self.on_exception
        hook.hlt = lambda session, *_: session.stop()
        self.tiles.shapes = None
        while self.stopped_by(hook):
            vector, state = self.exception
            if vector != UNKNOWN_INSTRUCTION or not self.tiles.execute(state):
                raise RuntimeError(f"exception {vector} at {state.rip:#x}")
            self.session.cpu.state = state
        if self.tiles.shapes:
            raise RuntimeError("the tile registers are not released")
        for page, (before, host) in self.pages.items():
            after = ctypes.string_at(host, PAGE)
            if after != before:
                for offset, words in changes(before, after):
                    os.pwrite(self.memory, words, self.virtual[page] + offset)

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

    def read(self, address, count):
        """Of the process, or what the function has made of it."""
        content = b""
        while len(content) < count:
            at = address + len(content)
            length = min(count - len(content), PAGE - at % PAGE)
            page = self.physical[at & -PAGE]
            if page in self.pages:
                content += ctypes.string_at(self.pages[page][1] + at % PAGE, length)
            else:
                content += os.pread(self.memory, length, at)
        return content

    def write_back(self, address, content):
        """As the function would."""
        while content:
            length = min(len(content), PAGE - address % PAGE)
            page = self.physical[address & -PAGE]
            if page not in self.pages:
                self.read_page(page)
            ctypes.memmove(self.pages[page][1] + address % PAGE, content[:length], length)
            address, content = address + length, content[length:]

    def stopped_by(self, hook):
        """Whether an exception ended what ran, with the place behind the instruction."""
        self.exception = None
        self.session.run([hook])
        return self.exception

    def on_exception(self, session, cpu, vector, code):
        self.exception = int(vector), session.cpu.state
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


def changes(before, after):
    """The runs of words that differ, each with its place in the page."""
    old, new = array.array("Q", before), array.array("Q", after)
    places = [i for i, pair in enumerate(zip(old, new)) if pair[0] != pair[1]]
    runs = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1][1] = place + 1
        else:
            runs.append([place, place + 1])
    return [(8 * first, new[first:last].tobytes()) for first, last in runs]


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
        except Exception as error:  # The test shows it.
            print(f"{type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
