"""Runs in `.venv-trainers`, where nothing of ours is: every config of a release's card through `load_dataset`.

python loaded_configs.py FOLDER ...      folder -> config -> split -> how many rows, and the first of them, as JSON on the last line
"""

import json
import os
import sys
import tempfile
from importlib import import_module

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": tempfile.mkdtemp()}

datasets = import_module("datasets")  # offline by then
datasets.disable_progress_bars()
told = {}
for folder in sys.argv[1:]:
    for name in datasets.get_dataset_config_names(folder):
        splits = datasets.load_dataset(folder, name)
        found = {split: {"rows": len(rows), "first": rows[0]} for split, rows in splits.items()}
        told.setdefault(folder, {})[name] = found
print(json.dumps(told))
