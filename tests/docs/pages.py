"""The pages as their tests read them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text()


def section(text: str, heading: str) -> str:
    """Return what stands below a second-level heading that begins with these words."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = part.partition("\n")[0]
        if title == heading or title.startswith(f"{heading} "):
            return part
    raise AssertionError(f"there is no section {heading!r}")


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.+)$", FENCE.sub("", text), flags=re.MULTILINE)


def rows(text: str) -> list[list[str]]:
    """Return the cells of all table rows but the heads."""
    lines = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines]
    return [
        row
        for row, following in zip(cells, [*cells[1:], [""]], strict=True)
        if set(row[0]) != {"-"} and set(following[0]) != {"-"}
    ]


def codes(cell: str) -> list[str]:
    """Return what a cell shows as code."""
    return CODE.findall(cell)


def blocks(text: str, *languages: str) -> list[str]:
    """Return the code blocks in these languages."""
    return [body for language, body in FENCE.findall(text) if language in languages]
