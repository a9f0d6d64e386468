#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/gps.safetensors: PyTorch Geometric's GPSConv around a GINConv with random
weights, its output on three molecules of different sizes, and the gradients of a weighted sum of
it. Everything is computed in double precision from values that are exact in f32.

    pip install torch torch_geometric safetensors        (made with torch_geometric 2.5.3)
    python3 tests/reference/make_gps_golden.py tests/golden/gps.safetensors
"""
import sys

import torch
from safetensors.torch import save_file
from torch_geometric.nn import GINConv, GPSConv

CHANNELS = 12
HEADS = 3
SIZES = [5, 1, 7]
BONDS = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4), (6, 7), (7, 8), (8, 9), (9, 10),
         (10, 11), (11, 6), (8, 12)]

torch.manual_seed(7)
inner = torch.nn.Sequential(torch.nn.Linear(CHANNELS, CHANNELS), torch.nn.LayerNorm(CHANNELS),
                            torch.nn.ReLU(), torch.nn.Linear(CHANNELS, CHANNELS))
layer = GPSConv(CHANNELS, GINConv(inner), heads=HEADS, act="relu", norm="LayerNorm",
                norm_kwargs={"mode": "node"}).double().eval()
for name, parameter in layer.named_parameters():
    scale, shift = (0.3, 0.0) if parameter.dim() > 1 else (0.1, 1.0 if "norm" in name else 0.0)
    parameter.data = (torch.randn(parameter.shape) * scale + shift).float().double()

edges = sorted([(j, i) for i, j in BONDS] + [(i, j) for i, j in BONDS], key=lambda e: (e[1], e[0]))
edge_index = torch.tensor(edges).t().contiguous()
batch = torch.cat([torch.full((n,), i) for i, n in enumerate(SIZES)])
x = torch.randn(sum(SIZES), CHANNELS).double().requires_grad_()
weight = torch.randn(sum(SIZES), CHANNELS).double()
out = layer(x, edge_index, batch)
(out * weight).sum().backward()

tensors = {"x": x, "weight": weight, "out": out, "x.gradient": x.grad}
for name, parameter in layer.named_parameters():
    tensors["layer/" + name] = parameter
    tensors["gradient/" + name] = parameter.grad
tensors = {name: t.detach().float().contiguous() for name, t in tensors.items()}
tensors["src"], tensors["dst"] = (t.int().contiguous() for t in edge_index)
tensors["sizes"] = torch.tensor(SIZES).int()
save_file(tensors, sys.argv[1])
print({n: tuple(t.shape) for n, t in tensors.items()})
