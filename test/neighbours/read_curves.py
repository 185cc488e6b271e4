"""Prints the figures that TensorBoard has in a folder, or trackio in a project: {name: [[step, value], …]}."""

import json
import sys

kind, place, *run = sys.argv[1:]
if kind == "tensorboard":
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    events = EventAccumulator(place, size_guidance={"tensors": 0})
    events.Reload()
    curves = {
        name: [[each.step, float(make_ndarray(each.tensor_proto))] for each in events.Tensors(name)]
        for name in events.Tags()["tensors"]
    }
else:
    from trackio.sqlite_storage import SQLiteStorage

    curves = {}
    for row in SQLiteStorage.get_logs(place, run[0]):
        for name, value in row.items():
            if name not in ("step", "timestamp"):
                curves.setdefault(name, []).append([row["step"], value])
print(json.dumps(curves))
