"""What the pages tell people to type can be typed."""

from __future__ import annotations

import ast
import importlib
import re
import shlex

import pytest
from django.core.management import get_commands, load_command_class

from tests.docs.pages import PAGES, blocks

PYTHON = [(name, block) for name, path in PAGES.items() for block in blocks(path.read_text(), "python", "py")]
TYPED = re.compile(r"manage\.py +(\w+)([^\n#|&;`]*)")
CALLS = sorted(
    {
        (name, call[0], call[1].strip())
        for name, path in PAGES.items()
        for block in blocks(path.read_text(), "bash", "console", "sh", "shell", "ini", "text", "")
        for call in TYPED.findall(block.replace("\\\n", " "))
    }
)


@pytest.mark.parametrize(("name", "block"), PYTHON)
def test_a_python_example_compiles(name, block):
    compile(block, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize(("name", "block"), PYTHON)
def test_a_python_example_imports_what_is_there(name, block):
    imported = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("django_leasejobs")
        for alias in node.names
    ]

    assert [item for item in imported if not hasattr(importlib.import_module(item[0]), item[1])] == []


@pytest.mark.parametrize(("name", "command", "arguments"), CALLS)
def test_a_command_line_names_a_command_and_options_that_there_are(name, command, arguments):
    app = get_commands().get(command)
    assert app is not None
    parser = load_command_class(app, command).create_parser("manage.py", command)
    known = {option for action in parser._actions for option in action.option_strings}

    used = {word.partition("=")[0] for word in shlex.split(arguments) if word.startswith("-") and word != "-"}

    assert used - known == set()


def test_the_pages_have_examples_to_test():
    assert len(PYTHON) > 5
    assert len(CALLS) > 5
