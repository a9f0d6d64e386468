#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the compiled kernels take of a GPU with a table:

    kernel_resources.py [--update] TABLE OBJECT...

The objects hold device code that is not compressed. A line of the table is a kernel template and
the registers of its largest instance on each architecture. Fails where an instance has a stack
(spilled registers, or arrays in local memory), takes more registers than the table says, or is not
in it; --update writes the table anew, but for stacks."""
import pathlib
import re
import struct
import subprocess
import sys
from collections import defaultdict

ELF = b"\x7fELF"
CUDA_MACHINE = 190
# Of the section .nv.info: pairs of (symbol, number).
REGISTERS = 0x2F
STACK = 0x11
HEADER = """\
# Registers of each kernel, of the largest instance of a template, on two generations of GPUs.
# Compared and rewritten by tests/lint/kernel_resources.py. No instance has a stack.
"""


def sections_of(cubin: bytes):
    """(name, content, link, info) of each section."""
    start, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + i * size) for i in range(count)]
    text_at = headers[names][4]
    for name, _, _, _, offset, length, link, info, _, _ in headers:
        end = cubin.index(b"\0", text_at + name)
        yield cubin[text_at + name:end].decode(), cubin[offset:offset + length], link, info


def attributes_of(info: bytes):
    """(attribute, value) of .nv.info; value is bytes where it has a size of its own."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == 4:
            yield attribute, info[at:at + size]
            at += size


def kernels_of(cubin: bytes):
    """Mangled name -> (registers, bytes of stack)."""
    sections = list(sections_of(cubin))
    found = {name: content for name, content, _, _ in sections}
    symbols, strings = found[".symtab"], found[".strtab"]

    def name_of(symbol: int) -> str:
        at, = struct.unpack_from("<I", symbols, 24 * symbol)
        return strings[at:strings.index(b"\0", at)].decode()

    numbers = defaultdict(dict)
    for attribute, value in attributes_of(found.get(".nv.info", b"")):
        if attribute in (REGISTERS, STACK):
            symbol, number = struct.unpack("<II", value)
            numbers[name_of(symbol)][attribute] = number
    entries = [name[len(".text."):] for name in found if name.startswith(".text.")]
    return {name: (numbers[name][REGISTERS], numbers[name].get(STACK, 0)) for name in entries}


def cubins_of(path: pathlib.Path):
    """(architecture, cubin) in an object file."""
    data = path.read_bytes()
    at = data.find(ELF, 1)
    while at >= 0:
        machine, = struct.unpack_from("<H", data, at + 18)
        flags, = struct.unpack_from("<I", data, at + 48)
        if machine == CUDA_MACHINE:
            # Newer compilers have the architecture one byte further on.
            architecture = flags >> 8 & 0xFF if flags & 0xFF < 50 else flags & 0xFF
            yield architecture, data[at:]
        at = data.find(ELF, at + 1)


def short_name(demangled: str) -> str:
    """reduce_kernel<MergeChunks<PackSum>>: names of templates, without numbers and plain types."""
    name = demangled.removeprefix("void ")
    depth = 0
    for at, character in enumerate(name):  # drops the parameters
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "(" and depth == 0 and not name.startswith("(anonymous", at):
            name = name[:at]
            break
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"\((?:[\w:]+)\)-?\d+u?l?", "", name)  # (int)4, (moiety::kernels::UnaryOp)3
    name = re.sub(r"\b(?:\w+::)+(?=\w)", "", name)
    words = re.findall(r"\w+|[<>]", name)
    plain = {"float", "double", "BFloat16", "Float16", "unsigned", "int", "char", "short", "long",
             "bool", "true", "false"}
    text = ""
    for word in words:
        if word in plain or word.isdigit():
            continue
        joins = word in "<>" or not text or text.endswith("<")
        text += word if joins else ", " + word
    while "<>" in text:
        text = text.replace("<>", "")
    return text


def measured(paths):
    """Short name -> architecture -> largest (registers, stack), and the instances with a stack."""
    largest = defaultdict(dict)
    stacks = []
    mangled = {}
    for path in paths:
        for architecture, cubin in cubins_of(path):
            for name, numbers in kernels_of(cubin).items():
                mangled.setdefault(name, []).append((architecture, *numbers))
    names = list(mangled)
    shown = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for name, demangled in zip(names, shown):
        for architecture, registers, stack in mangled[name]:
            row = largest[short_name(demangled)]
            row[architecture] = max(row.get(architecture, 0), registers)
            if stack:
                stacks.append(f"sm_{architecture}: {stack} bytes of stack: {demangled}")
    return largest, stacks


def read_table(path: pathlib.Path):
    lines = [line.split("  ") for line in path.read_text().splitlines() if line[:1] not in "#"]
    rows = [[cell.strip() for cell in line if cell.strip()] for line in lines if line]
    if not rows:
        return {}
    architectures = [int(cell.removeprefix("sm_")) for cell in rows[0][1:]]
    return {row[0]: dict(zip(architectures, map(int, row[1:]))) for row in rows[1:]}


def write_table(path: pathlib.Path, largest):
    architectures = sorted({a for row in largest.values() for a in row})
    width = max(map(len, largest))
    lines = ["kernel".ljust(width) + "".join(f"  sm_{a}" for a in architectures)]
    for name in sorted(largest):
        lines.append(name.ljust(width) + "".join(f"  {largest[name][a]:5}" for a in architectures))
    path.write_text(HEADER + "\n".join(lines) + "\n")


def problems_of(largest, table):
    for name, row in sorted(largest.items()):
        if name not in table:
            yield f"{name}: not in the table"
            continue
        for architecture, registers in sorted(row.items()):
            allowed = table[name].get(architecture, 0)
            if registers > allowed:
                yield f"{name}: {registers} registers on sm_{architecture}, the table has {allowed}"
    for name in sorted(table.keys() - largest.keys()):
        yield f"{name}: in the table, but there is no such kernel"


def main(arguments) -> int:
    update = arguments[:1] == ["--update"]
    table, *objects = map(pathlib.Path, arguments[update:])
    largest, problems = measured(objects)
    if not largest:
        problems.append("there are no kernels in these objects")
    elif update:
        write_table(table, largest)
    else:
        problems += problems_of(largest, read_table(table))
    for problem in problems:
        print(problem)
    if problems:
        print(f"kernels take other resources than {table.name} says; where that is meant, or the "
              "compiler is another one, build the target kernel_resources_update")
    else:
        print(f"{len(largest)} kernels hold to {table.name}")
    return bool(problems)


sys.exit(main(sys.argv[1:]))
