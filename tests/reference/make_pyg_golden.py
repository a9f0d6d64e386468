#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/pyg.safetensors: models of PyTorch Geometric with random weights (the module
of docs/pyg_model.py), their outputs for some graphs, and the gradients of the sum of squares of
these. Everything is computed in double precision from weights that are exact in f32.

    pip install torch torch_geometric safetensors      (made with torch_geometric 2.5.3)
    python3 tests/reference/make_pyg_golden.py tests/golden/pyg.safetensors
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs"))
from pyg_model import GraphModel  # noqa: E402

ATOM_DIMS, BOND_DIMS = [4, 3], [3, 2]
MODELS = {
    "gcn": {"norm": "none", "activation": "relu", "pool": "mean", "residual": True},
    "gin": {"norm": "batch", "activation": "silu", "pool": "sum", "residual": False},
    "gine": {"norm": "layer", "activation": "relu", "pool": "max", "residual": True},
}
SIZES = [5, 1, 8, 3]

torch.manual_seed(4)


def graphs():
    """Rings and chains: bonds as two edges each, sorted by where they end."""
    edges, first = [], 0
    for n in SIZES:
        bonds = [(i, i + 1) for i in range(n - 1)] + ([(n - 1, 0)] if n > 3 else [])
        for i, j in bonds:
            kind = [int(torch.randint(0, d, ())) for d in BOND_DIMS]
            edges += [(first + j, first + i, kind), (first + i, first + j, kind)]
        first += n
    edges.sort(key=lambda e: e[:2])
    x = torch.stack([torch.randint(0, d, (first,)) for d in ATOM_DIMS], dim=1)
    edge_index = torch.tensor([[e[1] for e in edges], [e[0] for e in edges]])
    return x, edge_index, torch.tensor([e[2] for e in edges])


def main(path):
    x, edge_index, edge_attr = graphs()
    batch = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
    tensors = {"x": x.int(), "src": edge_index[0].int(), "dst": edge_index[1].int(),
               "edge_attr": edge_attr.int(), "sizes": torch.tensor(SIZES, dtype=torch.int32)}
    for conv, options in MODELS.items():
        model = GraphModel({"conv": conv, "hidden": 8, "layers": 2, "head_layers": 2, "dropout": 0,
                            "atom_dims": ATOM_DIMS, "bond_dims": BOND_DIMS, "targets": ["a", "b"],
                            **options})
        for name, value in model.state_dict().items():
            if value.is_floating_point() and not name.endswith(".eps"):
                noise = torch.randn(value.shape)
                is_scale = "norm" in name or ".nn.1." in name
                value.copy_((noise * 0.2 + 1.0).abs() if is_scale else noise * 0.5)
            tensors[f"{conv}/state/{name}"] = value.clone()
        model = model.double().eval()
        out = model(x, edge_index, edge_attr, batch)
        out.square().sum().backward()
        tensors[f"{conv}/out"] = out.detach().float()
        for name, parameter in model.named_parameters():
            tensors[f"{conv}/gradient/{name}"] = parameter.grad.float()
    save_file({name: value.contiguous() for name, value in tensors.items()}, path)


main(sys.argv[1])
