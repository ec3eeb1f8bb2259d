"""AMX's instructions for 8-bit integers, which the emulated CPU lacks: what the code of the kernels
has of them is done here, from its bytes."""
import operator
import struct

REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
             "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")
COUNT = 8
MOST_ROWS = 16
MOST_BYTES = 64
LONGEST = 12  # Bytes of an instruction.
BIT_64 = (1 << 64) - 1


class Instruction:
    """What the three bytes of a VEX prefix, the operation and its operands say."""

    def __init__(self, code):
        if code[0] != 0xc4 or code[1] & 0x1f != 2 or code[2] & 0x84 != 0:
            raise ValueError("no such instruction")  # Not of 0F38, with W or L.
        high = [not code[1] & bit for bit in (0x80, 0x40, 0x20)]  # Of reg, index, base.
        self.prefix = code[2] & 3
        self.third = ~code[2] >> 3 & 15
        self.operation, fields = code[3], code[4]
        self.mode = fields >> 6
        self.register = (fields >> 3 & 7) + 8 * high[0]
        self.base = (fields & 7) + 8 * high[2]
        self.index, self.scale, self.offset = None, 1, 0
        self.length = 5
        if self.mode == 3:
            return
        if fields & 7 == 4:
            self.scale = 1 << (code[5] >> 6)
            index = (code[5] >> 3 & 7) + 8 * high[1]
            self.index = index if index != 4 else None
            self.base = (code[5] & 7) + 8 * high[2]
            self.length = 6
        if self.mode == 0 and self.base & 7 == 5:
            raise ValueError("an address without a base")
        layout = {0: "", 1: "<b", 2: "<i"}[self.mode]
        if layout:
            self.offset, = struct.unpack_from(layout, code, self.length)
        self.length += struct.calcsize(layout)

    def address(self, state):
        return getattr(state, REGISTERS[self.base]) + self.offset

    def stride(self, state):
        if self.index is None:
            return 0
        return getattr(state, REGISTERS[self.index]) * self.scale


class Tiles:
    """read(address, count) and write(address, content) are of the process whose code runs."""

    def __init__(self, read, write):
        self.read, self.write = read, write
        self.shapes = None  # Rows and their bytes, by register.
        self.rows = None  # What the registers hold.

    def execute(self, state):
        """Does the instruction that ends at the state's place. False if it is another one."""
        for length in range(5, LONGEST):
            code = self.read(state.rip - length, length)
            try:
                instruction = Instruction(code)
            except (ValueError, IndexError, struct.error):
                continue
            if instruction.length == length:
                return self.execute_one(instruction, state)
        return False

    def execute_one(self, instruction, state):
        in_registers = instruction.mode == 3
        done = {
            (0x49, 0, False): self.configure,
            (0x49, 0, True): self.release,
            (0x49, 3, True): self.zero,
            (0x4b, 3, False): self.load,
            (0x4b, 2, False): self.store,
            (0x5e, 1, True): lambda *of: self.multiply(*of, is_signed=False),
            (0x5e, 3, True): lambda *of: self.multiply(*of, is_signed=True),
        }.get((instruction.operation, instruction.prefix, in_registers))
        if not done:
            return False
        done(instruction, state)
        return True

    def configure(self, instruction, state):
        config = self.read(instruction.address(state), 64)
        widths, rows = struct.unpack_from("<8H", config, 16), config[48:48 + COUNT]
        expect(config[0] == 1 and not any(config[1:16]) and not any(config[32:48]) and
               not any(config[48 + COUNT:]), "a configuration that LDTILECFG refuses")
        expect(max(widths) <= MOST_BYTES and max(rows) <= MOST_ROWS, "shapes that are too large")
        self.shapes = list(zip(rows, widths))
        self.rows = [[bytes(MOST_BYTES)] * MOST_ROWS for _ in range(COUNT)]

    def release(self, instruction, state):
        self.shapes = None

    def shape(self, tile):
        expect(self.shapes, "a tile register before LDTILECFG")
        expect(0 not in self.shapes[tile], "a tile register without a shape")
        return self.shapes[tile]

    def zero(self, instruction, state):
        self.shape(instruction.register)
        self.rows[instruction.register] = [bytes(MOST_BYTES)] * MOST_ROWS

    def places(self, instruction, state):
        count, width = self.shape(instruction.register)
        address, stride = instruction.address(state), instruction.stride(state)
        return [((address + row * stride) & BIT_64, width) for row in range(count)]

    def load(self, instruction, state):
        self.rows[instruction.register] = padded(
            self.read(place, width) for place, width in self.places(instruction, state))

    def store(self, instruction, state):
        rows = self.rows[instruction.register]
        for (place, width), row in zip(self.places(instruction, state), rows):
            self.write(place, row[:width])

    def multiply(self, instruction, state, is_signed):
        to, left, right = instruction.register, instruction.base, instruction.third
        expect(len({to, left, right}) == 3, "tile registers that are not three")
        rows, width = self.shape(to)
        depth = self.shape(left)[1]
        expect(self.shape(left)[0] == rows and self.shape(right) == (depth // 4, width),
               "shapes that do not fit one another")
        layout = f"{depth}{'b' if is_signed else 'B'}"
        quads = [struct.unpack(f"{width}b", row[:width]) for row in self.rows[right][:depth // 4]]
        columns = [[quad[4 * n + i] for quad in quads for i in range(4)]
                   for n in range(width // 4)]
        made = []
        for sums, row in zip(self.rows[to][:rows], self.rows[left]):
            numbers = struct.unpack(layout, row[:depth])
            words = struct.unpack(f"<{width // 4}I", sums[:width])
            made.append(struct.pack(f"<{width // 4}I", *(
                word + sum(map(operator.mul, numbers, column)) & 0xffffffff
                for word, column in zip(words, columns))))
        self.rows[to] = padded(made)


def padded(rows):
    made = [row.ljust(MOST_BYTES, b"\0") for row in rows]
    return made + [bytes(MOST_BYTES)] * (MOST_ROWS - len(made))


def expect(is_right, what):
    if not is_right:
        raise RuntimeError(what)
