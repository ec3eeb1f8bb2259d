"""Which public names of torch.fx a case uses, recorded while it runs.

A case uses a function or method when its own code, or that of mirror.py, calls it,
names it, or overrides it and the override is called; an attribute when that code
reads or writes it, or passes it to the constructor. What the functions called call in turn is reached through them.
Needs torch.
"""

import dis
import inspect
import pathlib
import sys
import types

HERE = str(pathlib.Path(__file__).resolve().parent)
# Between a case and what it calls may stand the machinery of `with` and of
# decorators.
TRANSPARENT = ("contextlib.py", "functools.py")


def code_objects(value):
    """Those that run when `value` is called, read or assigned."""
    if isinstance(value, property):
        functions = [value.fget, value.fset]
    elif isinstance(value, (staticmethod, classmethod)):
        functions = [value.__func__]
    else:
        functions = [value]
    for function in functions:
        while function is not None:
            code = getattr(function, "__code__", None)
            if code is not None and "torch/fx" in code.co_filename:
                yield code
            function = getattr(function, "__wrapped__", None)


def is_case_code(code):
    return code.co_filename.startswith(HERE) and "touched_names" not in code.co_filename


def called_by_case(frame):
    while frame and frame.f_code.co_filename.endswith(TRANSPARENT):
        frame = frame.f_back
    return frame is not None and is_case_code(frame.f_code)


def first_argument(frame):
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


class Recording:
    """Notes in each Name the cases that use or reach it."""

    def __init__(self, names):
        self.case = None
        self.by_code = {}
        self.by_object = {}
        self.members = {}  # Of each name, by owner.
        self.referenced = {}  # What the global names in a code object mean.
        self.classes = {n.value: n for n in names if n.kind == "class"}
        for name in names:
            self.index(name)
        self.watch_attributes()

    def index(self, name):
        if name.kind in ("function", "class"):
            self.by_object[id(name.value)] = name
        if name.kind != "class":
            for code in code_objects(name.value):
                self.by_code.setdefault(code, []).append(name)
        if name.owner is not None:
            member = name.path.rpartition(".")[2]
            self.members.setdefault(member, {})[name.owner] = name

    def use(self, name):
        name.cases.add(self.case)
        owner = self.classes.get(name.owner)
        if owner is not None:
            owner.cases.add(self.case)

    def use_member(self, kind, member):
        """`member` of an object of this type, whichever bases have it."""
        owners = self.members.get(member, {})
        for base in kind.__mro__:
            if base in owners:
                self.use(owners[base])

    def watch_attributes(self):
        """Reading or writing an attribute of a public class is noted."""
        watched = set()
        for cls in sorted(self.classes, key=lambda c: len(c.__mro__)):
            if not watched.intersection(cls.__mro__):
                watched.add(cls)
                self.watch(cls, "__getattribute__")
                self.watch(cls, "__setattr__")

    def watch(self, cls, method):
        original = getattr(cls, method)

        def noting(obj, member, *value):
            if self.case and is_case_code(sys._getframe(1).f_code):
                self.use_member(type(obj), member)
            return original(obj, member, *value)

        try:
            setattr(cls, method, noting)
        except TypeError:  # A class made by C++.
            pass

    def references(self, code, names):
        """The public functions and classes that a code object names."""
        if code not in self.referenced:
            found, value = [], None
            for instruction in dis.get_instructions(code):
                if instruction.opname == "LOAD_GLOBAL":
                    value = names.get(instruction.argval)
                elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                    inside = isinstance(value, types.ModuleType)
                    value = getattr(value, instruction.argval, None) if inside else None
                elif instruction.opname not in ("PRECALL", "CACHE"):
                    value = None
                if id(value) in self.by_object:
                    found.append(self.by_object[id(value)])
            self.referenced[code] = found
        return self.referenced[code]

    def note_options(self, frame):
        """Arguments of a constructor that are attributes and not the default."""
        made = first_argument(frame)
        if not self.members_of(type(made)):
            return
        for parameter in inspect.signature(type(made).__init__).parameters.values():
            given = frame.f_locals.get(parameter.name, parameter.default)
            if given is not parameter.default:
                self.use_member(type(made), parameter.name)

    def members_of(self, kind):
        return any(base in self.classes for base in kind.__mro__)

    def profile(self, frame, event, argument):
        if event == "c_call":
            owner = type(getattr(argument, "__self__", None))
            if is_case_code(frame.f_code):
                self.use_member(owner, argument.__name__)
        if event != "call":
            return
        code = frame.f_code
        if code.co_name == "__init__" and called_by_case(frame.f_back):
            self.note_options(frame)
        if is_case_code(code):
            for name in self.references(code, frame.f_globals):
                self.use(name)
            self.use_member(type(first_argument(frame)), code.co_name)
        for name in self.by_code.get(code, ()):
            if called_by_case(frame.f_back):
                self.use(name)
            else:
                name.reached.add(self.case)

    def run(self, case, function, *arguments):
        self.case = case
        sys.setprofile(self.profile)
        try:
            function(*arguments)
        finally:
            sys.setprofile(None)
            self.case = None
