"""Libraries that report their use to their makers do not do so in a process of the trainer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub import Hub

REPORTS = """
{first}
from huggingface_hub.utils import _telemetry

_telemetry.send_telemetry("trl/trainer")  # what a trainer of TRL calls when it is made
_telemetry._TELEMETRY_QUEUE.join()
"""
CHOICES = ("HF_HUB_DISABLE_TELEMETRY", "DISABLE_TELEMETRY", "DO_NOT_TRACK")


@pytest.mark.parametrize(
    ("first", "reported"), [("", ["trl/trainer"]), ("import tandem_trainer", [])], ids=["alone", "in-the-trainer"]
)
def test_the_hub_is_told_nothing(tmp_path, first, reported):
    inherited = {name: value for name, value in os.environ.items() if name not in CHOICES}
    with Hub() as hub:
        environment = {**inherited, **hub.environment(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
        subprocess.run([sys.executable, "-c", REPORTS.format(first=first)], env=environment, check=True)
        assert hub.telemetry == reported


def test_neither_gradio_nor_onnx_runtime_reports_anything():
    import tandem_trainer  # noqa: F401

    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
