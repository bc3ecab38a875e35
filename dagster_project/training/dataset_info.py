"""`dataset_info.json` of a release: LLaMA-Factory reads its lines as they are.

`context` is a text, and a history LLaMA-Factory reads is not: it would be passed over without a word, so it is not named;
`gristmill export` makes turns of it.
"""

from collections.abc import Mapping
from typing import Any

from dagster_project.contracts.formats import FORMATS

ALPACA = {"columns": {"prompt": "instruction", "query": "input", "response": "output"}}
OTHERS: dict[str, dict[str, Any]] = {
    "preference": {"ranking": True, "columns": {"prompt": "prompt", "chosen": "chosen", "rejected": "rejected"}},
    "unpaired": {"columns": {"prompt": "prompt", "response": "completion", "kto_tag": "label"}},
}


def dataset_info(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Every file of records that holds any; a training file under the name of its format."""
    return {
        entry["format"] if entry["split"] == "train" else f"{entry['format']}_{entry['split']}": {
            "file_name": name,
            **OTHERS.get(entry["format"], ALPACA),
        }
        for name, entry in manifest["files"].items()
        if entry["format"] in FORMATS and entry["rows"]
    }
