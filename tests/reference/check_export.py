#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads a folder that `moiety export --format huggingface` wrote as any user of transformers does,
and compares what the model says of some SMILES with what `moiety predict RUN SMILES.csv` wrote:

    pip install torch transformers
    moiety export RUN --format huggingface -o FOLDER
    moiety predict RUN SMILES.csv -o PREDICTIONS.csv
    python3 tests/reference/check_export.py FOLDER PREDICTIONS.csv

Without PREDICTIONS.csv it compares what a causal model writes: each line that
`moiety generate FOLDER --temperature 0 --prompt TEXT` would write, given as "TEXT=>LINE".
"""
import csv
import json
import pathlib
import sys

import torch
import transformers
from transformers import AutoTokenizer


def load(folder):
    config = json.loads((folder / "config.json").read_text())
    architecture = getattr(transformers, config["architectures"][0])
    model, report = architecture.from_pretrained(folder, output_loading_info=True)
    wrong = {what: names for what, names in report.items() if names}
    if wrong:
        sys.exit(f"{folder}: {wrong}")
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def log_likelihood(model, ids):
    """Of the tokens behind the first one."""
    scores = model(ids).logits[0, :-1].log_softmax(-1)
    return scores.gather(1, ids[0, 1:, None]).sum().item()


def values_of(model, tokenizer, smiles):
    ids = tokenizer(smiles, return_tensors="pt").input_ids
    if isinstance(model, transformers.GPT2LMHeadModel):
        return [log_likelihood(model, ids)]
    logits = model(ids).logits[0]
    if model.config.problem_type == "multi_label_classification":
        return logits.sigmoid().tolist()
    return logits.tolist()


def check_predictions(model, tokenizer, path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    smiles_at = header.index("smiles")
    worst = 0.0
    for row in rows:
        got = [float(cell) for cell in row[smiles_at + 1:] if cell]
        expected = values_of(model, tokenizer, row[smiles_at])
        for a, b in zip(got, expected, strict=False):
            worst = max(worst, abs(a - b) / max(1.0, abs(b)))
    print(f"{len(rows)} rows, largest difference {worst:.2e}")
    if not rows or worst > 1e-4:
        sys.exit("the export does not say what the run says")


def check_texts(model, tokenizer, pairs):
    for pair in pairs:
        text, _, expected = pair.partition("=>")
        ids = tokenizer(text, return_tensors="pt").input_ids
        if ids[0, -1] == model.config.eos_token_id:
            ids = ids[:, :-1]
        out = model.generate(ids, do_sample=False, max_length=model.config.n_positions,
                             pad_token_id=model.config.eos_token_id)
        got = tokenizer.decode(out[0], skip_special_tokens=True).replace(" ", "")
        print(f"{text!r} -> {got!r}")
        if got != expected:
            sys.exit(f"expected {expected!r}")


def main(folder, *rest):
    model, tokenizer = load(pathlib.Path(folder))
    with torch.no_grad():
        if rest and rest[0].endswith(".csv"):
            check_predictions(model, tokenizer, rest[0])
        else:
            check_texts(model, tokenizer, rest)


main(*sys.argv[1:])
