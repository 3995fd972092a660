"""Python's ctypes from takt.cdef: its constants, structures and functions, with their names in C."""

import ctypes
import re

NUMBERS = {"int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "uint8_t": ctypes.c_uint8, "uint16_t": ctypes.c_uint16,
           "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "double": ctypes.c_double,
           "char": ctypes.c_char}
DECLARATION = re.compile(r"(?P<type>(?:const )*\w+)(?P<stars>(?: ?\*(?: ?const)?)*) ?(?P<name>\w+)(?:\[(?P<length>\d+)\])?")

FUNCTION = re.compile(r"(?P<result>\w+) \(\*(?P<name>\w+)\)\((?P<parameters>[^)]*)\)")


class Interface:
    """The library at `path` with the declarations of a cdef text: `constants` and `structures` by name, functions in `library`."""

    def __init__(self, text, path):
        self.constants, self.structures = {}, {}
        self.library = ctypes.CDLL(path)
        text = re.sub(r"\s+", " ", text)
        for body in re.findall(r"enum(?: \w+)? \{([^}]*)\}", text):
            self._add_constants(body)
        for name, body in re.findall(r"typedef struct (\w+) \{([^}]*)\}", text):
            fields = [self._declared(field) for field in body.split(";") if field.strip()]
            self.structures[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        functions = re.findall(r"(?:(?<=;) ?)((?:const )?\w+(?: ?\*)?) ?(takt_\w+)\(([^)]*)\);", text)
        for result, name, parameters in functions:
            function = getattr(self.library, name)
            function.restype = None if result == "void" else self._declared(result + " result")[1]
            function.argtypes = [self._declared(p, True)[1] for p in parameters.split(",")] if parameters != "void" else []
        self.functions = {name for _, name, _ in functions}

    def _add_constants(self, body):
        for value in body.split(","):
            name, _, number = value.partition("=")
            self.constants[name.strip()] = eval(number, {})  # an expression of numbers, as C and Python both write it

    def _declared(self, text, is_parameter=False):
        """(name, type) of a field or a parameter."""
        if function := FUNCTION.fullmatch(text.strip()):
            result = None if function["result"] == "void" else self._declared(function["result"] + " result")[1]
            kinds = [self._declared(p, True)[1] for p in function["parameters"].split(",")]
            return function["name"], ctypes.CFUNCTYPE(result, *kinds)
        found = DECLARATION.fullmatch(text.strip())
        assert found, text
        base, stars = found["type"].replace("const ", ""), found["stars"].count("*")
        if stars and base in ("char", "void"):
            made, stars = ctypes.c_char_p if base == "char" else ctypes.c_void_p, stars - 1
        elif stars and base == "uint8_t" and is_parameter:
            made, stars = ctypes.c_void_p, stars - 1  # takes bytes, too
        elif base in NUMBERS:
            made = NUMBERS[base]
        elif base in self.structures:
            made = self.structures[base]
        else:
            made, stars = ctypes.c_void_p, stars - 1  # an object that only the library looks into
        for _ in range(stars):
            made = ctypes.POINTER(made)
        return found["name"], made * int(found["length"]) if found["length"] else made
