#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/transformers.safetensors: small models of HuggingFace's transformers library
with random weights, and their logits, losses and gradients on sequences of several lengths, which
they see padded. Everything is computed in double precision from weights that are exact in f32.

    pip install torch transformers safetensors        (made with transformers 4.41.2)
    python3 tests/reference/make_transformer_golden.py tests/golden/transformers.safetensors
"""
import sys

import torch
from safetensors.torch import save_file
from transformers import (GPT2Config, GPT2LMHeadModel, RobertaConfig, RobertaForMaskedLM,
                          RobertaForSequenceClassification)

LENGTHS = [7, 1, 12, 3]
VOCABULARY = 30
CLASSES = 3
PAD = 1
IGNORED = -100
SIZES = {"hidden": 24, "layers": 2, "heads": 3, "inner": 40, "length": 14}

torch.manual_seed(20)
tensors = {}


def randomize(model):
    """Weights that let every part of the model matter; biases and norms are not left at 0 and 1."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape)
        is_norm = "norm.weight" in name.lower() or ".ln_" in name and name.endswith("weight")
        scale = 0.25 if parameter.dim() > 1 else 0.1
        parameter.data = (noise * scale + (1.0 if is_norm else 0.0)).float()
    return model.double().eval()


def pad(rows, value):
    width = max(LENGTHS)
    return torch.tensor([list(row) + [value] * (width - len(row)) for row in rows])


def cut(values):
    """[B, L, ...] without padding: [T, ...]."""
    return torch.cat([values[b, :length] for b, length in enumerate(LENGTHS)])


def keep(name, value):
    if value.is_floating_point():
        value = value.detach().float()
    elif value.dtype == torch.int64:
        value = value.int()
    tensors[name] = value.clone().contiguous()


def keep_weights(prefix, model, names=""):
    for name, parameter in model.named_parameters():
        if name.startswith(names):
            keep(f"{prefix}/{name}", parameter)


def keep_run(prefix, model, loss, logits):
    keep(f"{prefix}/logits", logits)
    keep(f"{prefix}/loss", loss.reshape(1))
    loss.backward()
    for name, parameter in model.named_parameters():
        keep(f"{prefix}/gradient/{name}", parameter.grad)


def main(path):
    tokens = [torch.randint(4, VOCABULARY, (length,)).tolist() for length in LENGTHS]
    ids = pad(tokens, PAD)
    mask = pad([[1] * length for length in LENGTHS], 0)
    keep("tokens", cut(ids))
    keep("lengths", torch.tensor(LENGTHS))

    # Dropout is off, as in inference.
    config = RobertaConfig(
        vocab_size=VOCABULARY, hidden_size=SIZES["hidden"], num_hidden_layers=SIZES["layers"],
        num_attention_heads=SIZES["heads"], intermediate_size=SIZES["inner"], pad_token_id=PAD,
        max_position_embeddings=SIZES["length"] + PAD + 1, type_vocab_size=1, layer_norm_eps=1e-5,
        num_labels=CLASSES)
    masked = randomize(RobertaForMaskedLM(config))
    scored = torch.rand(ids.shape) < 0.4
    scored[0, 0] = True
    labels = torch.where(scored & (mask == 1), torch.randint(4, VOCABULARY, ids.shape),
                         torch.tensor(IGNORED))
    keep("masked/labels", cut(labels))
    keep_weights("roberta", masked)
    out = masked(input_ids=ids, attention_mask=mask, labels=labels)
    keep_run("masked", masked, out.loss, cut(out.logits))

    sequence = randomize(RobertaForSequenceClassification(config))
    sequence.roberta.load_state_dict(masked.roberta.state_dict())  # so that it is kept once
    keep_weights("roberta", sequence, "classifier.")
    classes = torch.tensor([2, 0, 1, 2])
    keep("sequence/labels", classes)
    out = sequence(input_ids=ids, attention_mask=mask, labels=classes)
    keep_run("sequence", sequence, out.loss, out.logits)

    causal = randomize(GPT2LMHeadModel(GPT2Config(
        vocab_size=VOCABULARY, n_positions=SIZES["length"], n_embd=SIZES["hidden"],
        n_layer=SIZES["layers"], n_head=SIZES["heads"], n_inner=SIZES["inner"])))
    keep_weights("gpt2", causal)
    labels = torch.where(mask == 1, ids, torch.tensor(IGNORED))
    out = causal(input_ids=ids, attention_mask=mask, labels=labels)
    keep_run("causal", causal, out.loss, cut(out.logits))
    save_file(tensors, path)


main(sys.argv[1])
