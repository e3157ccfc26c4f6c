"""Builds the site: the pages of docs/, the notebooks with their pictures, the commands' and the C++ reference.

Usage: site.py --command ONSET [--out FOLDER]

FOLDER (build/site) gets `pages`, what mkdocs reads, and `html`, the site. It needs mkdocs with its material theme,
nbconvert and Doxygen; formulas are shown where KaTeX is installed (all of them Debian packages; nothing is loaded from
elsewhere when the site is read). Every link within the site is checked, anchors included.
"""

import argparse
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
KATEX = pathlib.Path("/usr/share/javascript/katex")
CPP = "cpp-reference"
CPP_MAIN = """# Reference of the C++ library

Made from the public headers. Begin with the requests of the families, one struct per verb: onset::smi, onset::aim, onset::ssi
and onset::mha; core has what they share. [The page on C++](../cpp/) walks through small programs.
"""
DOXYGEN = """PROJECT_NAME = "Onset, the C++ library"
INPUT = {include} {main}
USE_MDFILE_AS_MAINPAGE = {main}
RECURSIVE = YES
STRIP_FROM_INC_PATH = {include}
FULL_PATH_NAMES = NO
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = YES
MARKDOWN_SUPPORT = YES
HAVE_DOT = NO
GENERATE_LATEX = NO
HTML_OUTPUT = {out}
HTML_TIMESTAMP = NO
DISABLE_INDEX = NO
GENERATE_TREEVIEW = YES
INPUT_FILTER = "sed '/^ *[/][/][/]/s/\\([^/]\\)</\\1\\\\</g'"
QUIET = YES
WARN_LOGFILE = /dev/null
"""  # The filter: in comments < is less than or a mean, never markup.


def plain(troff):
    """A text of the manual page as Markdown."""
    text = troff.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\\\")
    text = re.sub(r"\\fB(.*?)\\fR", r"`\1`", text)
    text = re.sub(r"\\fI(.*?)\\fR", r"*\1*", text)
    return re.sub(r"<([^>]*)>", r"&lt;\1&gt;", text)


def command_reference(onset):
    """The manual page, which `onset man` makes from the catalogue, as a page of the site."""
    lines = subprocess.run([onset, "man"], capture_output=True, text=True, check=True).stdout.splitlines()
    out = ["# Reference of commands", "", "What `onset man` prints; words are explained in the [glossary](glossary.md).", ""]
    at = 0
    while at < len(lines):
        macro, _, rest = lines[at].partition(" ")
        if macro == ".SH":
            out += ["", f"## {rest.capitalize()}", ""]
        elif macro == ".SS":
            out += ["", f"### {plain(rest.strip(chr(34)))}", ""]
        elif macro == ".TP":
            out += ["", plain(lines[at + 1]), f":   {plain(lines[at + 2])}"]
            at += 2
        elif macro in (".PP", ".br"):
            out.append("")
        elif macro == ".nf":
            end = lines.index(".fi", at)
            out += ["", "```", *(line.replace("\\-", "-") for line in lines[at + 1:end]), "```"]
            at = end
        elif macro == ".B":
            out.append(f"`{rest}`")
        elif not macro.startswith(".\\") and macro != ".TH":
            out.append(plain(lines[at]))
        at += 1
    return "\n".join(out) + "\n"


def notebook_pages(pages):
    """Notebooks as Markdown, with their pictures beside them; pages that speak of a notebook lead there."""
    import nbconvert

    exporter = nbconvert.MarkdownExporter()
    for path in sorted((pages / "notebooks").glob("*.ipynb")):
        resources = {"output_files_dir": f"{path.stem}_files", "unique_key": path.stem}
        body, found = exporter.from_filename(str(path), resources=resources)
        for name, content in found["outputs"].items():
            picture = path.parent / name
            picture.parent.mkdir(exist_ok=True)
            picture.write_bytes(content)
        note = f"*The notebook: [{path.name}]({path.name}); its outputs are as it was last executed.*"
        title, _, rest = body.lstrip().partition("\n")
        text = f"{title}\n\n{note}\n{rest}"
        path.with_suffix(".md").write_text(text, encoding="utf-8")
    for path in pages.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"\]\(([\w/-]+)\.ipynb\)(?!; its)", r"](\1.md)", text), encoding="utf-8")


def cpp_reference(pages):
    main_page = pages.parent / "main.md"
    main_page.write_text(CPP_MAIN, encoding="utf-8")
    configuration = DOXYGEN.format(include=ROOT / "include", main=main_page, out=pages / CPP)
    subprocess.run(["doxygen", "-"], input=configuration, text=True, check=True, stdout=subprocess.DEVNULL)


def formulas(pages):
    """KaTeX, where it is installed; else formulas stay as they were typed."""
    if not KATEX.is_dir():
        print("site: no KaTeX (Debian: libjs-katex): formulas are shown as they were typed")
        return
    target = pages / "katex"
    target.mkdir()
    for name in ("katex.min.css", "katex.min.js", "contrib/auto-render.js"):
        shutil.copy(KATEX / name, target)
    shutil.copytree(KATEX / "fonts", target / "fonts")


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


def broken_links(site):
    """Links of the site's own pages that lead nowhere."""
    pages = {path: Page(path) for path in site.rglob("*.html") if CPP not in path.parts}
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links are absolute, for wherever the site is put
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(site)}: {link}: there is no such page"
            elif parts.fragment and target in pages and parts.fragment not in pages[target].anchors:
                if not parts.fragment.startswith("__"):
                    yield f"{path.relative_to(site)}: {link}: there is no such anchor"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/site")
    options = parser.parse_args()
    out = options.out.resolve()
    pages, site = out / "pages", out / "html"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    (pages / "reference.md").write_text(command_reference(options.command), encoding="utf-8")
    notebook_pages(pages)
    cpp_reference(pages)
    formulas(pages)
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (out / "mkdocs.yml").write_text(configuration, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", out / "mkdocs.yml"],
                   check=True)
    broken = list(broken_links(site))
    print("\n".join(broken) or f"the site is in {site}; every link of it leads somewhere")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
