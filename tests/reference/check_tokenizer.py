#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether HuggingFace's AutoTokenizer reads a tokenizer's folder and makes the same ids of texts:

    pip install transformers
    python3 tests/reference/check_tokenizer.py build/release/bin/moiety FOLDER TEXTS

TEXTS has a text a line. Needs no network. Ends with 1 at the first difference.
"""
import subprocess
import sys

from transformers import AutoTokenizer

moiety, folder, path = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)
with open(path, encoding="utf-8", newline="\n") as file:
    texts = file.read().removesuffix("\n").split("\n")
ours = subprocess.run([moiety, "tokenizer", "encode", folder, "--input", path], check=True,
                      capture_output=True, encoding="utf-8").stdout.split("\n")[:-1]
if len(ours) != len(texts):
    sys.exit(f"{len(texts)} texts, but {len(ours)} lines of ids")
for text, line in zip(texts, ours):
    ids = [int(number) for number in line.split("\t")[0].split()]
    theirs = tokenizer(text)["input_ids"]
    back = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    if ids != theirs or back != text:
        sys.exit(f"{text!r}: {ids}, but {theirs} in {type(tokenizer).__name__}; back as {back!r}")
print(f"{type(tokenizer).__name__}: the same ids for {len(texts)} texts, {len(tokenizer)} tokens, "
      f"mask {tokenizer.mask_token_id}, pad {tokenizer.pad_token_id}")
