# SPDX-License-Identifier: Apache-2.0
"""A graph model that `moiety export --format pyg` wrote, as a module of PyTorch Geometric.

    model = load("exported")                  # the folder: config.json and model.safetensors
    y = model(data.x, data.edge_index, data.edge_attr, data.batch)     # [molecules, targets]

x and edge_attr are the categorical features of Open Graph Benchmark (ogb.utils.smiles2graph), as
integers; every bond is two edges. y is in the units of the targets.
"""
import json
import pathlib

import torch
from torch.nn import GELU, Linear, ReLU, SiLU, Sequential, Tanh
from torch_geometric.nn import (GCNConv, GINConv, GINEConv, global_add_pool, global_max_pool,
                                global_mean_pool)

ACTIVATIONS = {"relu": ReLU, "silu": SiLU, "gelu": GELU, "tanh": Tanh,
               "gelu_tanh": lambda: GELU(approximate="tanh")}
NORMS = {"none": torch.nn.Identity, "batch": torch.nn.BatchNorm1d, "layer": torch.nn.LayerNorm}
POOLS = {"mean": global_mean_pool, "sum": global_add_pool, "max": global_max_pool}


class Embeddings(torch.nn.Module):
    """The sum of an embedding a feature: OGB's AtomEncoder and BondEncoder."""

    def __init__(self, classes, width):
        super().__init__()
        self.embedding_list = torch.nn.ModuleList(torch.nn.Embedding(c, width) for c in classes)

    def forward(self, x):
        return sum(table(x[:, f]) for f, table in enumerate(self.embedding_list))


class GraphModel(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        width, act = config["hidden"], ACTIVATIONS[config["activation"]]
        norm = NORMS[config["norm"]]
        self.conv, self.residual = config["conv"], config["residual"]
        self.dropout, self.pool = config["dropout"], POOLS[config["pool"]]
        self.act = act()
        self.atom_encoder = Embeddings(config["atom_dims"], width)
        self.convs, self.norms = torch.nn.ModuleList(), torch.nn.ModuleList()
        self.bond_encoders = torch.nn.ModuleList()
        for _ in range(config["layers"]):
            mlp = Sequential(Linear(width, width), norm(width), act(), Linear(width, width))
            if self.conv == "gcn":
                self.convs.append(GCNConv(width, width))
            elif self.conv == "gin":
                self.convs.append(GINConv(mlp))
            else:
                self.convs.append(GINEConv(mlp))
                self.bond_encoders.append(Embeddings(config["bond_dims"], width))
            self.norms.append(norm(width))
        head = []
        for _ in range(config["head_layers"] - 1):
            head += [Linear(width, width), act()]
        self.head = Sequential(*head, Linear(width, len(config["targets"])))

    def forward(self, x, edge_index, edge_attr=None, batch=None):
        h = self.atom_encoder(x)
        for i, conv in enumerate(self.convs):
            edges = (self.bond_encoders[i](edge_attr),) if self.conv == "gine" else ()
            y = self.act(self.norms[i](conv(h, edge_index, *edges)))
            y = torch.nn.functional.dropout(y, self.dropout, self.training)
            h = h + y if self.residual else y
        return self.head(self.pool(h, batch))


def load(folder):
    from safetensors.torch import load_file
    folder = pathlib.Path(folder)
    model = GraphModel(json.loads((folder / "config.json").read_text()))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval()
