from __future__ import annotations

import os
import signal

import pytest

from django_leasejobs.worker.shutdown import STOP_SIGNALS, StopRequests


@pytest.fixture
def stops():
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    requests = StopRequests()
    requests.install()
    yield requests
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_the_first_signal_asks_and_the_second_insists(stops, number):
    assert (stops.asked, stops.at_once) == (False, False)
    os.kill(os.getpid(), number)
    assert (stops.asked, stops.at_once) == (True, False)
    os.kill(os.getpid(), number)
    assert (stops.asked, stops.at_once) == (True, True)
