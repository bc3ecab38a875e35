"""Runs in `.venv-trainers`, where nothing of ours is: every config of a release's card through `load_dataset`.

python loaded_configs.py FOLDER      config -> split -> how many rows, and the first of them, as JSON on the last line
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
for name in datasets.get_dataset_config_names(sys.argv[1]):
    splits = datasets.load_dataset(sys.argv[1], name)
    told[name] = {split: {"rows": len(rows), "first": rows[0]} for split, rows in splits.items()}
print(json.dumps(told))
