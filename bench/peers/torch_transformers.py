#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of the language models of transformer_step in PyTorch; prints a JSON line.

An encoder as RoBERTa's (norms last, 15 % of the tokens scored) or a decoder as GPT-2's (norms
first, all scored), AdamW. Sequences of unequal length are padded to the longest of their batch.
"""
import argparse
import contextlib
import json
import math
import os
import random
import statistics
import time


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["mlm", "gpt"], default="mlm")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--lengths", help="a file of lengths, of which each batch takes the next")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=600)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32",
                        help="bf16: autocast")
    parser.add_argument("--head", choices=["scored", "all"], default="scored",
                        help="which tokens the head reads")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3)
    return parser.parse_args()


args = arguments()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(args.threads)  # read when the libraries load

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

IGNORED = -100
KINDS = 8  # batches that take turns


def attend(q, k, v, mask, training):
    """[B, H, T, D] each; mask is added to the scores."""
    p = args.dropout if training else 0.0
    if hasattr(F, "scaled_dot_product_attention"):
        causal = args.model == "gpt"
        return F.scaled_dot_product_attention(q, k, v, None if causal else mask, p, causal)
    scores = torch.matmul(q, k.transpose(2, 3)).mul_(1 / math.sqrt(q.size(3)))
    if mask is not None:
        scores = scores + mask
    return torch.matmul(F.dropout(scores.softmax(3), p, training), v)


class Attention(nn.Module):
    """Three projections as RoBERTa has them, or one as GPT-2 has."""

    def __init__(self, width, joint):
        super().__init__()
        self.into = nn.ModuleList([nn.Linear(width, 3 * width)] if joint else
                                  [nn.Linear(width, width) for _ in range(3)])
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        b, t, c = x.shape
        parts = [linear(x) for linear in self.into]
        if len(parts) == 1:
            parts = parts[0].split(c, 2)
        q, k, v = (part.view(b, t, args.heads, -1).transpose(1, 2) for part in parts)
        mixed = attend(q, k, v, mask, self.training)
        return self.out(mixed.transpose(1, 2).reshape(b, t, c))


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm_first = args.model == "gpt"
        self.attention = Attention(width, joint=self.norm_first)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x, mask):
        def drop(y):
            return F.dropout(y, args.dropout, self.training)

        def inner(y):
            return self.down(F.gelu(self.up(y)))

        if self.norm_first:
            x = x + drop(self.attention(self.norms[0](x), mask))
            return x + drop(inner(self.norms[1](x)))
        x = self.norms[0](x + drop(self.attention(x, mask)))
        return self.norms[1](x + drop(inner(x)))


class Model(nn.Module):
    def __init__(self, longest):
        super().__init__()
        c, self.mlm = args.hidden, args.model == "mlm"
        self.token, self.position = nn.Embedding(args.vocabulary, c), nn.Embedding(longest, c)
        self.layers = nn.ModuleList([Layer(c) for _ in range(args.layers)])
        self.norm = nn.LayerNorm(c)
        if self.mlm:
            self.kind = nn.Parameter(torch.zeros(c))
            self.dense, self.head_norm = nn.Linear(c, c), nn.LayerNorm(c)
            self.bias = nn.Parameter(torch.zeros(args.vocabulary))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens, labels, mask):
        x = self.token(tokens) + self.position(torch.arange(tokens.size(1)))
        if self.mlm:
            x = self.norm(x + self.kind)
        x = F.dropout(x, args.dropout, self.training)
        for layer in self.layers:
            x = layer(x, mask)
        x, labels = x.flatten(0, 1), labels.flatten()
        if args.head == "scored":
            rows = (labels != IGNORED).nonzero().flatten()
            x, labels = x.index_select(0, rows), labels.index_select(0, rows)
        if self.mlm:
            x = self.head_norm(F.gelu(self.dense(x)).float())
            scores = F.linear(x, self.token.weight, self.bias)
        else:
            scores = F.linear(self.norm(x), self.token.weight)
        return F.cross_entropy(scores.float(), labels, ignore_index=IGNORED)


def batch_of(lengths):
    """Tokens, labels and the mask of one padded batch."""
    longest = max(lengths)
    shape = (len(lengths), longest)
    tokens = torch.randint(0, args.vocabulary, shape)
    if args.model == "mlm":
        labels = torch.where(torch.rand(shape) < 0.15, torch.randint(0, args.vocabulary, shape),
                             IGNORED)
    else:
        labels = tokens.roll(-1, 1)
    padding = torch.arange(longest) >= torch.tensor(lengths)[:, None]
    labels[padding] = IGNORED
    mask = None
    if args.model == "gpt":  # what is padded comes last: no token before it sees it
        mask = torch.full((longest, longest), float("-inf")).triu(1)
    elif padding.any():
        mask = torch.zeros(shape).masked_fill(padding, float("-inf"))[:, None, None, :]
    return tokens, labels, mask


def main():
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    random.seed(0)
    lengths = [args.length]
    if args.lengths:
        with open(args.lengths) as file:
            lengths = [int(word) for word in file.read().split()]
    batches = [batch_of([lengths[(i * args.batch + b) % len(lengths)] for b in range(args.batch)])
               for i in range(KINDS)]
    model = Model(max(lengths))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)

    def cast():
        bf16 = args.precision == "bf16"
        return torch.autocast("cpu", dtype=torch.bfloat16) if bf16 else contextlib.nullcontext()

    def step(batch):
        optimizer.zero_grad(set_to_none=True)
        with cast():
            loss = model(*batch)
        loss.backward()
        optimizer.step()
        return loss.item()

    losses = [step(batch) for batch in batches[:3]]
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < args.seconds or len(times) < KINDS:
        before = time.perf_counter()
        losses.append(step(batches[len(times) % KINDS]))
        times.append(1e3 * (time.perf_counter() - before))
    times.sort()
    print(json.dumps({
        "model": args.model, "precision": args.precision, "dropout": args.dropout,
        "batch": args.batch, "padded_tokens": sum(b[0].numel() for b in batches) / KINDS,
        "head": args.head, "threads": args.threads, "impl": f"torch {torch.__version__}",
        "p10_ms": times[len(times) // 10], "median_ms": statistics.median(times),
        "steps": len(times), "loss_first": losses[0], "loss_last": losses[-1]}))


main()
