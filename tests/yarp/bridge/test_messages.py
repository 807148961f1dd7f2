"""Answers that follow from results of another thread."""

from concurrent.futures import Future

import pytest

from pliant.base.errors import DeviceError, WireError
from pliant.yarp.bridge.messages import ENDED, answered


def result(*, value=None, fault=None):
    future = Future()
    if fault is None:
        future.set_result(value)
    else:
        future.set_exception(fault)
    return future


def test_an_answer_follows_from_a_result_and_from_the_reason_why_there_is_none():
    assert answered(result(value=2), lambda x: 3 * x).result(0) == 6
    refused = DeviceError("no such axis")
    assert answered(result(fault=refused), str, lambda why: f"[fail] {why}").result(0) == "[fail] no such axis"
    with pytest.raises(DeviceError, match="no such axis"):
        answered(result(fault=refused), str).result(0)


def test_the_end_of_the_run_is_a_reason():
    future = Future()
    answer, told = answered(future, str), answered(future, str, lambda why: why)
    future.cancel()
    assert told.result(0) == ENDED
    with pytest.raises(WireError, match=ENDED):
        answer.result(0)


def test_a_result_that_the_wire_cannot_say_is_an_error_of_the_answer():
    def reply(value):
        raise WireError("no value of a Bottle")

    with pytest.raises(WireError, match="no value of a Bottle"):
        answered(result(value=object()), reply).result(0)


def test_an_answer_that_nobody_waits_for_any_more_is_dropped(caplog):
    future = Future()
    answer = answered(future, str)
    answer.cancel()
    future.set_result(1)
    assert answer.cancelled()
    assert caplog.text == ""
