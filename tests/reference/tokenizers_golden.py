#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/tokenizers.json: what HuggingFace's tokenizers 0.23 make of texts, with a BPE
vocabulary that its trainer learned from data/gap_gfn2.csv.

    pip install tokenizers
    python3 tests/reference/tokenizers_golden.py > tests/golden/tokenizers.json
"""
import csv
import json
import pathlib
import re
import tempfile

from tokenizers import ByteLevelBPETokenizer, pre_tokenizers, processors

ROWS = 4000
SIZE = 450
MIN_FREQUENCY = 3
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
SCHWALLER = re.compile(r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@"
                       r"|\?|>>?|\*|\$|\%[0-9]{2}|[0-9])")

SMILES = """
CC(=O)Oc1ccccc1C(=O)O
C[C@H](N)C(=O)O
F/C=C\\F
[13CH4]
[Na+].[Cl-]
BrC1CCCCC1Cl
C1CC2CCC1C%10CCCC%10C2
CC(=O)O.OCC>[H+].O>CC(=O)OCC
CCO>>CC=O
[O-][N+](=O)c1ccc(S(=O)(=O)N)cc1I
C#N
C~[Cu]$C*
c1ccc2[nH]ccc2c1
OP(=O)(O)OB(O)O
C[Si@@](F)(Cl)Br
[se]1cccc1
C:1:C:C:C:C:C1
N?
""".split()

TEXTS = SMILES + [
    "", " ", "  ", "CCO ", " CCO", "CC  O", "a\n\nb \t c\n", "'sx 'S",
    "it's we've I'll they'd I'm don't you're", "Hello, world! 12 34.5e-6 (x)",
    "naïve Straße ÀÉ", "δ-Δ σ² ½ Ⅷ ٣", "分子の SMILES 文字列",
    "\U0001F9EA\U0001F468\u200D\U0001F52C e\u0301", "\u00a0x\u2003y\u3000", "a\u0085b\u2028c",
    "\x00\x01\x7f\u00ad", "CC<mask>O", "<mask>", "x <mask> y", "<mas", "<<mask>>",
]


def learn():
    path = pathlib.Path(__file__).parents[2] / "data" / "gap_gfn2.csv"
    with open(path) as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)][:ROWS]
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(smiles, vocab_size=SIZE, min_frequency=MIN_FREQUENCY,
                                  special_tokens=SPECIAL, show_progress=False)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0),
                                                            add_prefix_space=False)
    return tokenizer


def saved_text(tokenizer, name):
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_model(folder)
        return (pathlib.Path(folder) / name).read_text(encoding="utf-8")


def pieces(text):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return [text[a:b] for _, (a, b) in byte_level.pre_tokenize_str(text)]


def smiles_tokens(smiles):
    tokens = SCHWALLER.findall(smiles)
    assert "".join(tokens) == smiles, smiles
    return tokens


bpe = learn()
print(json.dumps({
    "rows": ROWS,
    "size": SIZE,
    "min_frequency": MIN_FREQUENCY,
    "vocab.json": saved_text(bpe, "vocab.json"),
    "merges.txt": saved_text(bpe, "merges.txt"),
    "texts": [{"text": text, "pieces": pieces(text), "ids": bpe.encode(text).ids}
              for text in TEXTS],
    "smiles": [{"text": text, "tokens": smiles_tokens(text)} for text in SMILES],
}, ensure_ascii=True, separators=(",", ":")).replace('{"text"', '\n{"text"'))
