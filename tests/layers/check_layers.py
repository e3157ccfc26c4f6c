"""Checks what the compiler cannot: which part of Onset may include which.

core <- {io, numerics, device} <- {smi, aim, ssi, mha} <- catalog <- study <- report <- explore <- tool
                          {smi, aim, ssi, mha} <- testing (public checks of models)
In a family: model <- limits <- learners <- verbs, and the rooms of mha beside them.

Usage: check_layers.py SOURCE_ROOT | --self-test
"""

import pathlib
import re
import sys
import tempfile

FAMILIES = {"smi", "aim", "ssi", "mha"}
BASE = {"core", "io", "numerics", "device"}

# What each layer may include besides itself.
MAY_INCLUDE = {
    "core": set(),
    "io": {"core"},
    "numerics": {"core"},
    "device": {"core"},
    **{family: BASE for family in FAMILIES},
    "catalog": BASE | FAMILIES,
    "study": BASE | FAMILIES | {"catalog"},
    "report": BASE | FAMILIES | {"catalog", "study"},
    "explore": BASE | FAMILIES | {"catalog", "study", "report"},
    "testing": BASE | FAMILIES,
    "tool": BASE | FAMILIES | {"catalog", "study", "report", "explore"},
}

# The rooms of a family, from the lowest up: none includes a higher one.
ROOMS = {
    "linear_algebra": 0,
    "model": 1,
    "limits": 2,
    "learners": 3,
    "baseline": 3,
    "verify": 3,
    "verbs": 4,
}
# A judge shares no code with what it judges, so that neither repeats the other's mistakes.
MUST_NOT_INCLUDE = {
    "mha/verify": ("mha/learners", "mha/baseline"),
    "mha/learners": ("mha/verify",),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
VECTOR = re.compile(r"^(hwy/|(imm|xmm|emm|pmm|tmm|smm|nmm|wmm|zmm|avx\w*)intrin\.h|arm_neon\.h)")
PRIVATE_LIBRARY = re.compile(
    r"^(CLI/|nlohmann/|toml\+\+/|toml\.hpp|fmt/|Eigen/|boost/|hwy/|gtest/"
    r"|sqlite3\.h|mpi\.h|httplib\.h|Clp|Coin)"
)
TRAINING = re.compile(r"^(torch|ATen|c10)/")
# What std::filesystem throws is no error of ours; it throws nothing where it is given an error_code,
# but for the increment of a loop over a folder. io/file_status.hpp has what throws IoError.
ASKS_FILES = re.compile(
    r"\b(?:std::filesystem|fs)::(absolute|canonical|copy|copy_file|copy_symlink|create_\w+|"
    r"current_path|equivalent|exists|file_size|hard_link_count|is_\w+|last_write_time|permissions|"
    r"proximate|read_symlink|relative|remove|remove_all|rename|resize_file|space|status|"
    r"symlink_status|temp_directory_path|weakly_canonical)\("
)
ERROR_CODE = re.compile(r"\b(error|ignored|problem)\b")
LOOPS_OVER_FOLDER = re.compile(r"\bfor\s*\([^;()]*:\s*[\w:]*directory_iterator\b")
PRINTS_OR_ABORTS = re.compile(r"\bstd::(cout|cerr|clog|abort|exit|terminate)\b|\bfmt::print\b")


def layer_of(path):
    """The layer of a path such as smi/verbs.cpp or catalog.hpp, or None when it names none."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) == 1:
        stem = pathlib.PurePosixPath(path).stem
        if stem in FAMILIES:  # its front door, such as smi.hpp
            return stem
        return {"catalog": "catalog", "version": "core", "onset": "tool"}.get(stem)
    return parts[0] if parts[0] in MAY_INCLUDE else None


def room_of(path):
    """The room of a file of a family, as in ROOMS; None for a family's own rooms."""
    parts = pathlib.PurePosixPath(path.removeprefix("onset/")).parts
    if parts[0].removesuffix(".hpp") not in FAMILIES:
        return None
    # A front door has the requests: it belongs to the verbs, as verbs.cpp and verbs.hpp do.
    room = "verbs" if len(parts) == 1 else parts[1].split(".")[0]
    return room if room in ROOMS else None


def sources(root):
    """(file, path inside the layers, is it a public header) of every file of ours."""
    for folder, public in (("include/onset", True), ("src", False), ("tool", False)):
        base = root / folder
        for path in sorted(base.rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".h", ".inl"):
                inside = path.relative_to(root if folder == "tool" else base).as_posix()
                yield path, inside, public


def included_layer(target, root):
    """The layer that an include names, or None for what is not ours."""
    if target.startswith("onset/"):
        return layer_of(target.removeprefix("onset/")) or "unknown"
    if (root / "src" / target).is_file():  # private headers are named from src/
        return layer_of(target) or "unknown"
    return None


def check_include(layer, inside, target, public, root):
    """The complaints about one include line."""
    other = included_layer(target, root)
    if other == "unknown":
        yield f"{target} is in no known layer"
    elif other is not None and other != layer and other not in MAY_INCLUDE[layer]:
        yield f"{layer} must not include {other} ({target})"
    elif other == "io" and layer in FAMILIES and not re.match(rf"{layer}/verbs[./]", inside):
        yield f"in a family only verbs touches io ({target})"
    room, wanted = room_of(inside), room_of(target)
    if room and wanted and other == layer and ROOMS[wanted] > ROOMS[room]:
        yield f"{layer}/{room} must not include {wanted} ({target})"
    room = "/".join(pathlib.PurePosixPath(inside).parts[:2])
    for judged in MUST_NOT_INCLUDE.get(room, ()):
        if target.removeprefix("onset/").startswith(f"{judged}/"):
            yield f"{room} must not include {judged} ({target})"
    if VECTOR.match(target) and not inside.startswith("numerics/simd/"):
        yield f"vector code belongs in numerics/simd ({target})"
    if public and other is not None and not target.startswith("onset/"):
        yield f"a public header must not include a private one ({target})"
    if public and PRIVATE_LIBRARY.match(target):
        yield f"a public header must not include {target}"
    if TRAINING.match(target):
        yield f"LibTorch belongs in text/, a program of its own ({target})"
    if target == "iostream" and layer != "tool":
        yield "the library prints nothing (iostream)"


def arguments_at(text, start):
    """The text from `start` to the parenthesis that ends the call."""
    depth = 1
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return text[start:]


def throwing_calls(text):
    """The lines that call a function of std::filesystem which may throw, and what it is."""
    text = re.sub(r"//[^\n]*", "", text)
    for match in ASKS_FILES.finditer(text):
        if not ERROR_CODE.search(arguments_at(text, match.end())):
            yield text.count("\n", 0, match.start()) + 1, match[0] + "..)"
    for match in LOOPS_OVER_FOLDER.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[0]


def check_file_calls(root):
    for folder in ("include/onset", "src", "tool", "python"):
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for number, call in throwing_calls(path.read_text(encoding="utf-8")):
                yield (f"{path.relative_to(root)}:{number}: {call} may throw what is no error of "
                       "ours; use io/file_status.hpp, or an error_code `error`")


def check(root):
    """All complaints, as file:line: text."""
    complaints = list(check_file_calls(root))
    for path, inside, public in sources(root):
        layer = layer_of(inside)
        name = path.relative_to(root)
        if layer is None:
            complaints.append(f"{name}:1: in no known layer; add it to MAY_INCLUDE")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            found = check_include(layer, inside, match[2], public, root) if match else ()
            complaints += [f"{name}:{number}: {text}" for text in found]
            code = line.split("//")[0]
            if layer != "tool" and PRINTS_OR_ABORTS.search(code):
                complaints.append(f"{name}:{number}: the library never prints and never aborts")
    return complaints


BAD_FILES = {
    "include/onset/core/up.hpp": ('#include "onset/numerics/random.hpp"', "core must not include"),
    "src/smi/cousin.cpp": ('#include "onset/aim/model.hpp"', "smi must not include aim"),
    "src/smi/model.cpp": ('#include "onset/io/csv.hpp"', "only verbs touches io"),
    "src/numerics/fast.cpp": ("#include <hwy/highway.h>", "belongs in numerics/simd"),
    "include/onset/mha/inside.hpp": ('#include "mha/model/layer.hpp"', "must not include a private"),
    "include/onset/io/json.hpp": ("#include <nlohmann/json.hpp>", "public header must not"),
    "include/onset/study/base.hpp": ("#include <sqlite3.h>", "public header must not"),
    "src/io/loud.cpp": ("void f() { std::cout << 1; }", "never prints"),
    "src/smi/heavy.cpp": ("#include <torch/types.h>", "LibTorch belongs in text/"),
    "src/odd/place.cpp": ("", "no known layer"),
    "src/mha/verify/lazy.cpp": (
        '#include "mha/learners/hull.hpp"',
        "mha/verify must not include mha/learners",
    ),
    "include/onset/mha/verify/lazy.hpp": (
        '#include "onset/mha/baseline/baseline.hpp"',
        "mha/verify must not include mha/baseline",
    ),
    "src/ssi/model/up.cpp": ('#include "onset/ssi/limits/flow.hpp"', "model must not include limits"),
    "src/mha/linear_algebra/up.cpp": (
        '#include "mha/model/layer.hpp"',
        "linear_algebra must not include model",
    ),
    "src/aim/learners/up.cpp": ('#include "onset/aim.hpp"', "learners must not include verbs"),
    "src/numerics/side.cpp": ('#include "onset/io/csv.hpp"', "numerics must not include io"),
    "src/io/ask.cpp": ("bool b = std::filesystem::exists(\n    path());", "may throw"),
    "src/io/walk.cpp": ("for (auto& e : fs::directory_iterator(folder, error)) {", "may throw"),
    "python/ask.cpp": ("fs::current_path()", "may throw"),
    "src/study/up.cpp": ('#include "onset/report/figure.hpp"', "study must not include report"),
}
GOOD_FILES = {
    "src/smi/verbs.cpp": '#include "onset/io/csv.hpp"',
    "src/smi/verbs/curve.cpp": '#include "onset/io/csv.hpp"',
    "src/mha/model/layer.hpp": "",
    "src/ssi/learners/sgd.cpp": '#include "onset/ssi/limits/flow.hpp"',
    "include/onset/ssi.hpp": '#include "onset/ssi/model/link.hpp"',
    "src/mha/baseline/fit.cpp": '#include "mha/learners/hull.hpp"',
    "src/mha/verify/rank.cpp": '#include "onset/mha/model/layer.hpp"',
    "src/catalog.cpp": '#include "onset/smi/verbs.hpp"',
    "src/numerics/simd/kernel.cpp": "#include <hwy/highway.h>",
    "src/io/careful.cpp": "bool b = fs::exists(\n    path(), error); // fs::exists(path)",
    "src/core/quiet.cpp": "// std::cout is for tools",
    "tool/main.cpp": '#include <CLI/CLI.hpp>\n#include "onset/report/figure.hpp"',
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        texts = {name: text for name, (text, _) in BAD_FILES.items()} | GOOD_FILES
        for name, text in texts.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n", encoding="utf-8")
        complaints = check(root)
    missed = [
        name
        for name, (_, expected) in BAD_FILES.items()
        if not any(line.startswith(name) and expected in line for line in complaints)
    ]
    false_alarms = [line for line in complaints if line.split(":")[0] in GOOD_FILES]
    return [f"missed: {name}" for name in missed] + [f"false alarm: {x}" for x in false_alarms]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    root = pathlib.Path(sys.argv[1])
    if sys.argv[1] != "--self-test" and not (root / "src").is_dir():
        print(f"{root}: no source tree")
        return 2
    complaints = self_test() if sys.argv[1] == "--self-test" else check(root)
    print("\n".join(complaints) or "all includes point one way")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
