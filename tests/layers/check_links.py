"""Checks the links of the documentation: files that do not exist, anchors that no heading or id
has, pages that never lead to the glossary, and papers of CITATION.cff to which README or the docs never lead.

Usage: check_links.py SOURCE_ROOT | --self-test
"""

import pathlib
import re
import sys
import tempfile

# Code shows text as it is, so that brackets in it are no links.
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
IDENTIFIER = re.compile(r'<a id="([^"]+)"></a>')
OUTSIDE = re.compile(r"^[a-z]+:")
PAPER = re.compile(r'^ +url: "([^"]+)"', re.MULTILINE)


def slug(heading):
    """The anchor that both mkdocs and code hosts give a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return re.sub(r" ", "-", kept)


def anchors(page):
    text = FENCE.sub("", page)
    return {slug(heading) for heading in HEADING.findall(text)} | set(IDENTIFIER.findall(text))


def links(page):
    return LINK.findall(CODE.sub("", FENCE.sub("", page)))


def fault_of(target, path):
    """What is wrong with a link of the page at `path`; empty when nothing is."""
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.exists():
        return "there is no such file"
    if anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
        return "there is no such anchor"
    return ""


def pages_of(root):
    return sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md"))


def uncited_papers(root):
    """Papers that CITATION.cff names, where README or every page of the docs leaves out the link."""
    readme = set(links((root / "README.md").read_text(encoding="utf-8")))
    docs = {link for path in (root / "docs").glob("*.md") for link in links(path.read_text(encoding="utf-8"))}
    for paper in PAPER.findall((root / "CITATION.cff").read_text(encoding="utf-8")):
        for place, found in (("README.md", readme), ("docs", docs)):
            if paper not in found:
                yield f"{place}: no link to {paper}, which CITATION.cff names"


def check(root):
    complaints = list(uncited_papers(root))
    glossary = (root / "docs" / "glossary.md").resolve()
    for path in pages_of(root):
        targets = [t for t in links(path.read_text(encoding="utf-8")) if not OUTSIDE.match(t)]
        name = path.relative_to(root)
        for target in targets:
            if fault := fault_of(target, path):
                complaints.append(f"{name}: {target}: {fault}")
        leads_there = any((path.parent / t.partition("#")[0]).resolve() == glossary
                          for t in targets)
        if "docs" in name.parts and path.resolve() != glossary and not leads_there:
            complaints.append(f"{name}: does not link to the glossary")
    return complaints


def self_test():
    """Each kind of fault is found, and what is right is not complained about."""
    pages = {
        "CITATION.cff": 'references:\n    url: "https://example.org/1"\n    url: "https://example.org/2"\n',
        "README.md": "[a](docs/a.md) [b](https://example.org/1) `[c](none)`\n",
        "docs/glossary.md": '# Glossary\n<a id="word"></a>word [here](#glossary)\n',
        "docs/a.md": "## Two words, here\n[w](glossary.md#word) [up](#two-words-here) [2](https://example.org/2)\n"
                     "```\n[no](link)\n```\n",
        "docs/file.md": "[gone](gone.md) [g](glossary.md)\n",
        "docs/anchor.md": "[gone](glossary.md#gone)\n",
        "docs/alone.md": "Nothing.\n",
    }
    expected = {"docs: no link to https://example.org/1, which CITATION.cff names",
                "README.md: no link to https://example.org/2, which CITATION.cff names",
                "docs/file.md: gone.md: there is no such file",
                "docs/anchor.md: glossary.md#gone: there is no such anchor",
                "docs/alone.md: does not link to the glossary"}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        for name, text in pages.items():
            (root / name).write_text(text, encoding="utf-8")
        found = set(check(root))
    return [f"found {found}, expected {expected}"] if found != expected else []


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    complaints = self_test() if sys.argv[1] == "--self-test" else check(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints) or "every link leads somewhere")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
