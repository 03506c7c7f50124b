#!/usr/bin/env python3
"""Every public struct that a caller allocates has its size, or is frozen: public_structs.py DIRECTORY

A struct is the caller's when it is an option struct, or when a function takes it by value, returns it by value, or gets
a pointer to it that is not const.  An element of an array that a struct points to must be frozen.  What is left belongs
to the library, which hands it out by pointers to const.
"""
import pathlib
import re
import sys

# Frozen structs say so in their comments; this list makes freezing one a decision.
FROZEN = {
    "isoproof_anomaly_case",
    "isoproof_certificate_event",
    "isoproof_edge",
    "isoproof_error",
    "isoproof_pop",
    "isoproof_position",
    "isoproof_scalar",
    "isoproof_write_order",
}
# Members that point to one struct, not to an array.
SINGLE = {("isoproof_run_progress", "isoproof_run_counts"), ("isoproof_run_options", "isoproof_workload_options"), ("isoproof_run_options", "isoproof_run_share"),
          ("isoproof_document_options", "isoproof_effort"), ("isoproof_render_options", "isoproof_effort"),
          ("isoproof_live_document_options", "isoproof_counts"),
          ("isoproof_systematic_options", "isoproof_systematic_bounds")}
# Structs of reports that are yet to be given a size, or accessors instead of arrays.
REPORTS = re.compile(r"isoproof_document_(op|txn|edge|order|case)")

STRUCT = re.compile(r"((?:/\*(?:[^*]|\*(?!/))*\*/\n)?)typedef struct (\w+) \{\n(.*?)\n\} (\w+);", re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def read_structs(texts):
    """Name to (comment before it, members without comments)."""
    found = {}
    for text in texts:
        for comment, name, body, alias in STRUCT.findall(text):
            assert name == alias, f"struct {name} is called {alias}"
            found[name] = (comment, COMMENT.sub("", body))
    return found


def prototypes(texts):
    """Everything that is no struct: functions and types of callbacks."""
    rest = "\n".join(COMMENT.sub("", STRUCT.sub("", text)) for text in texts)
    return " ".join(line for line in rest.splitlines() if not line.startswith("#"))


def is_callers(name, functions):
    if name.endswith("_options"):
        return True
    by_value = re.search(rf"\b{name} \w+[,()]", functions)
    pointer = re.search(rf"(?<!const )\b{name} \*\w+[,)]", functions)
    return bool(by_value or pointer)


def problems(texts):
    structs, functions = read_structs(texts), prototypes(texts)
    for name, (comment, body) in sorted(structs.items()):
        first = body.strip().splitlines()[0].strip()
        sized = first == "size_t struct_size;"
        if ("Frozen." in comment) != (name in FROZEN):
            yield f"{name}: its comment and the list of frozen structs disagree"
        if sized and name in FROZEN:
            yield f"{name}: a frozen struct needs no size"
        if sized or name in FROZEN or REPORTS.fullmatch(name):
            pass
        elif is_callers(name, functions):
            yield f"{name}: expected `size_t struct_size` as its first member, found `{first}`"
        for element in re.findall(r"(\w+) \*+\w+;", body):
            allowed = element in FROZEN or (name, element) in SINGLE or REPORTS.fullmatch(element)
            if element in structs and not allowed:
                yield f"{name}: points to {element}, which is neither frozen nor known to be a single one"
        for member in re.findall(r"^\s*(isoproof_\w+) \w+(?:\[.*\])?;", body, re.M):
            if member in structs and member not in FROZEN:
                yield f"{name}: holds {member}, which may grow"
    for name in sorted(FROZEN - structs.keys()):
        yield f"{name}: is listed as frozen, but there is no such struct"


def self_test():
    """What the rules are there to find is found."""
    frozen = "".join(f"/* Frozen. */\ntypedef struct {name} {{\n  int a;\n}} {name};\n" for name in sorted(FROZEN))
    bad = {
        "first member": "typedef struct isoproof_x {\n  int a; /* b */\n} isoproof_x;\nbool isoproof_f(int a,\n isoproof_x *out);",
        "neither frozen": "typedef struct isoproof_y {\n  int a;\n} isoproof_y;\ntypedef struct isoproof_x {\n  const isoproof_y *ys;\n} isoproof_x;",
        "may grow": "typedef struct isoproof_y {\n  int a;\n} isoproof_y;\ntypedef struct isoproof_x {\n  isoproof_y y;\n} isoproof_x;",
        "disagree": "/* Frozen. */\ntypedef struct isoproof_x {\n  int a;\n} isoproof_x;",
    }
    assert not list(problems([frozen]))
    for words, text in bad.items():
        found = list(problems([frozen, text]))
        assert len(found) == 1 and words in found[0], (words, found)


def main():
    self_test()
    headers = sorted(pathlib.Path(sys.argv[1]).glob("*.h"))
    texts = [header.read_text(encoding="utf-8") for header in headers]
    found = list(problems(texts))
    assert len(read_structs(texts)) > 40, "the headers were not understood"
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
