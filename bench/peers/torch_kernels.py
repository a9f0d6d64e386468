#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times what PyTorch (and PyG, where it is installed) needs for the rows of a moiety_bench table.

torch_kernels.py [--device cuda|cpu] [--tiny] BENCH.md OUT.md

Shapes and types are those of the rows. On a GPU each launch is timed by events with the cache
emptied before it, as moiety_bench does; the median of 30 counts. Rows without a counterpart are
left out. Graphs are random ones with as many neighbours, as near, as in the benchmark's molecules.
"""
import argparse
import statistics
import time

import torch
import torch.nn.functional as F

try:
    from torch_geometric.nn import GCNConv, global_mean_pool
    from torch_geometric.utils import scatter, softmax as segment_softmax
except ImportError:
    GCNConv = global_mean_pool = scatter = segment_softmax = None

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}
OGB_ATOM_DIMS = [119, 5, 12, 12, 10, 6, 6, 2, 2]
aten = torch.ops.aten


class Stopwatch:
    def __init__(self, device: str, launches: int):
        self.gpu, self.launches = device == "cuda", launches
        if self.gpu:
            cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
            self.filler = torch.zeros(4 * cache // 4, device=device)

    def median(self, work) -> float:
        """Seconds."""
        for _ in range(3):
            work()
        times = []
        for _ in range(self.launches):
            if not self.gpu:
                begin = time.perf_counter()
                work()
                times.append(time.perf_counter() - begin)
                continue
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.filler.sum()
            start.record()
            work()
            stop.record()
            stop.synchronize()
            times.append(1e-3 * start.elapsed_time(stop))
        return statistics.median(times)


class Operands:
    """Makes inputs of one type on one device."""

    def __init__(self, device: str, dtype: torch.dtype):
        self.device, self.dtype = device, dtype

    def rand(self, *shape: int) -> torch.Tensor:
        return torch.empty(*shape, device=self.device).uniform_(-2, 2).to(self.dtype)

    def index(self, count: int, below: int) -> torch.Tensor:
        return torch.randint(below, (count,), device=self.device)


def extents(shape: str) -> list[int]:
    return [int(n) for n in shape.split("x")]


def elementwise(name: str, shape: str, o: Operands):
    n = int(shape)
    x, g = o.rand(n), o.rand(n)
    plain = {"relu": torch.relu, "exp": torch.exp, "log": torch.log, "tanh": torch.tanh,
             "sigmoid": torch.sigmoid, "silu": F.silu, "gelu": F.gelu, "softplus": F.softplus}
    if name in plain:
        return lambda: plain[name](x)
    wide, row, column = o.rand(n // 64, 64), o.rand(64), o.rand(n // 64, 1)
    matrix = o.rand(n // 256, 256)
    return {
        "relu_grad": lambda: aten.threshold_backward(g, x, 0),
        "gelu_grad": lambda: aten.gelu_backward(g, x),
        "silu_grad": lambda: aten.silu_backward(g, x),
        "add": lambda: x + g,
        "add_row": lambda: wide + row,
        "add_column": lambda: wide + column,
        "fill": lambda: x.fill_(1.0),
        "transpose": lambda: matrix.t().contiguous(),
        "cast_bf16": lambda: x.to(torch.bfloat16),
    }.get(name)


def reduce(name: str, shape: str, o: Operands):
    size = extents(shape)
    x = o.rand(*size)
    if name.startswith("sum"):
        return lambda: x.sum(1)
    if name == "softmax":
        return lambda: torch.softmax(x, 1)
    if name == "log_softmax":
        return lambda: torch.log_softmax(x, 1)
    g, log = o.rand(*size), name.startswith("log")
    y = torch.log_softmax(x, 1) if log else torch.softmax(x, 1)
    backward = aten._log_softmax_backward_data if log else aten._softmax_backward_data
    return lambda: backward(g, y, 1, o.dtype)


def norm(name: str, shape: str, o: Operands):
    rows, width = extents(shape)
    x, g, weight, bias = o.rand(rows, width), o.rand(rows, width), o.rand(width), o.rand(width)
    if name == "layer_norm":
        return lambda: F.layer_norm(x, [width], weight, bias)
    if name.startswith("rms_norm"):
        if not hasattr(F, "rms_norm"):
            return None
        if name == "rms_norm":
            return lambda: F.rms_norm(x, [width], weight, 1e-5)
        with torch.enable_grad():
            leaves = (x.requires_grad_(), weight.requires_grad_())
            y = F.rms_norm(x, [width], weight, 1e-5)
        return lambda: torch.autograd.grad(y, leaves, g, retain_graph=True)
    if name == "batch_norm":
        return lambda: F.batch_norm(x, None, None, weight, bias, training=True)
    mask = [True, True, True]
    if name == "layer_norm_grad":
        _, mean, rstd = aten.native_layer_norm(x, [width], weight, bias, 1e-5)
        backward = aten.native_layer_norm_backward
        return lambda: backward(g, x, [width], mean, rstd, weight, bias, mask)
    _, mean, rstd = aten.native_batch_norm(x, weight, bias, None, None, True, 0.1, 1e-5)
    backward = aten.native_batch_norm_backward
    return lambda: backward(g, x, weight, None, None, mean, rstd, True, 1e-5, mask)


def random(name: str, shape: str, o: Operands):
    x = o.rand(int(shape))
    return {"dropout": lambda: F.dropout(x, 0.1), "uniform": lambda: x.uniform_(),
            "normal": lambda: x.normal_()}.get(name)


def product(name: str, shape: str, o: Operands):
    m, n, k = extents(shape)
    if name == "forward":
        a, b = o.rand(m, k), o.rand(n, k)
        return lambda: a @ b.t()
    if name == "weight_gradient":
        a, b = o.rand(k, m), o.rand(k, n)
        return lambda: a.t() @ b
    x, weight, bias = o.rand(m, k), o.rand(n, k), o.rand(n)
    if name == "relu":
        return lambda: F.linear(x, weight, bias).relu_()
    g, y = o.rand(m, n), o.rand(m, n)
    return lambda: aten.threshold_backward(g, y, 0).sum(0)


def gather(name: str, shape: str, o: Operands):
    rows, width = extents(shape)
    if name in ("gather", "scatter_sum"):
        pairs = torch.arange(rows, device=o.device) // 2
        if name == "gather":
            x = o.rand(rows // 2, width)
            near = (pairs + o.index(rows, 16)).clamp_(max=rows // 2 - 1)
            return lambda: x.index_select(0, near)
        values, out = o.rand(rows, width), o.rand(rows // 2, width)
        return lambda: out.zero_().index_add_(0, pairs, values)
    first = [sum(OGB_ATOM_DIMS[:f]) for f in range(len(OGB_ATOM_DIMS))]
    index = torch.stack([o.index(rows, d) + at for d, at in zip(OGB_ATOM_DIMS, first)], 1)
    table, grad = o.rand(sum(OGB_ATOM_DIMS), width), o.rand(rows, width)
    if name == "embedding_sum":
        return lambda: F.embedding_bag(index, table, mode="sum")
    flat = index.flatten()
    return lambda: torch.zeros_like(table).index_add_(
        0, flat, grad.repeat_interleave(len(OGB_ATOM_DIMS), 0))


def segment(name: str, shape: str, o: Operands):
    segments, each, width = extents(shape)
    x, grad, pooled = (o.rand(segments * each, width), o.rand(segments * each, width),
                       o.rand(segments, width))
    of_row = torch.arange(segments * each, device=o.device) // each
    if name == "broadcast":
        return lambda: pooled.index_select(0, of_row).mul_(1 / each)
    if scatter is None:
        return None
    if name in ("mean", "max"):
        return lambda: scatter(x, of_row, 0, segments, reduce=name)
    if name == "softmax":
        return lambda: segment_softmax(x, of_row, num_nodes=segments)

    def backward():
        product_ = x * grad
        return product_ - x * scatter(product_, of_row, 0, segments).index_select(0, of_row)

    return backward


def local_edges(molecules: int, o: Operands) -> tuple[int, torch.Tensor, torch.Tensor]:
    """Nodes, destinations (ascending) and sources: 18 atoms a molecule and 2.1 edges an atom."""
    nodes, edges = 18 * molecules, 75 * molecules // 2
    dst = torch.arange(edges, device=o.device) * nodes // edges
    return nodes, dst, (dst + o.index(edges, 7) - 3).clamp_(0, nodes - 1)


def message_passing(name: str, shape: str, o: Operands):
    molecules, width = (int(n) for n in shape.split("_molecules_x"))
    nodes, dst, src = local_edges(molecules, o)
    edges = dst.numel()
    x, grad, edge = o.rand(nodes, width), o.rand(nodes, width), o.rand(edges, width)
    weight, own, table = o.rand(edges, 1), o.rand(nodes, 1), o.rand(60, width)
    kind = torch.arange(edges, device=o.device) % 5

    def gcn(to, source):
        return (x * own).index_add_(0, to, x.index_select(0, source) * weight)

    def relu_sum(rows):
        return torch.zeros_like(x).index_add_(0, dst, F.relu(x.index_select(0, src) + rows()))

    def relu_backward(rows, into):
        flow = grad.index_select(0, dst) * (x.index_select(0, src) + rows() > 0)
        return torch.zeros_like(x).index_add_(0, src, flow), into(flow)

    return {
        "neighbor_sum": lambda: gcn(dst, src),
        "neighbor_sum_backward": lambda: gcn(src, dst),
        "edge_dot": lambda: (grad.index_select(0, dst) * x.index_select(0, src)).sum(1),
        "relu_message_sum": lambda: relu_sum(lambda: table.index_select(0, kind)),
        "relu_message_sum_own_rows": lambda: relu_sum(lambda: edge),
        "relu_message_backward": lambda: relu_backward(
            lambda: table.index_select(0, kind),
            lambda flow: torch.zeros_like(table).index_add_(0, kind, flow)),
        "relu_message_backward_own_rows": lambda: relu_backward(lambda: edge, lambda flow: flow),
    }.get(name)


def optimizer(name: str, shape: str, o: Operands):
    p, g = o.rand(int(shape)), o.rand(int(shape))
    if name == "squared_norm":
        return lambda: (g * g).sum().item()
    if name == "lerp":
        return lambda: p.lerp_(g, 0.001)
    p.requires_grad_()
    p.grad = g
    fused = {"fused": True} if o.device == "cuda" else {}
    made = (torch.optim.AdamW([p], **fused) if name == "adamw" else
            torch.optim.SGD([p], 1e-6, momentum=0.9, **fused))
    return made.step


def attention(name: str, shape: str, o: Operands):
    """Its fused kernels, on sequences of one length: it has none for packed ones."""
    causal = shape.endswith("_causal")
    sequences, length, heads, width = extents(shape.removesuffix("_causal"))
    q, k, v, g = (o.rand(sequences, heads, length, width) for _ in range(4))
    if name == "forward":
        return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    with torch.enable_grad():
        leaves = [x.requires_grad_() for x in (q, k, v)]
        out = F.scaled_dot_product_attention(*leaves, is_causal=causal)
    return lambda: torch.autograd.grad(out, leaves, g, retain_graph=True)


def rotary(name: str, shape: str, o: Operands):
    """As transformers has it."""
    tokens, heads, width = extents(shape)
    x, cos, sin = o.rand(tokens, heads, width), o.rand(tokens, 1, width), o.rand(tokens, 1, width)
    half = width // 2
    return lambda: x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def step(name: str, shape: str, o: Operands):
    """A training step of the same GCN in PyG: 4 layers, residuals, mean pooling, two-layer head."""
    if GCNConv is None or name != "gcn":
        return None
    molecules, hidden = (int(n) for n in shape.split("_molecules_x"))
    nodes, dst, src = local_edges(molecules, o)
    x, y, edges = o.rand(nodes, 32), o.rand(molecules, 1), torch.stack([src, dst])
    graph = torch.arange(nodes, device=o.device) // 18
    embed = torch.nn.Linear(32, hidden)
    convs = torch.nn.ModuleList(GCNConv(hidden, hidden) for _ in range(4))
    head = torch.nn.Sequential(torch.nn.Linear(hidden, hidden), torch.nn.ReLU(),
                               torch.nn.Linear(hidden, 1))
    model = torch.nn.ModuleList([embed, convs, head]).to(o.device)
    fused = {"fused": True} if o.device == "cuda" else {}
    adamw = torch.optim.AdamW(model.parameters(), 1e-3, **fused)

    def run():
        with torch.enable_grad():
            h = embed(x)
            for conv in convs:
                h = h + F.relu(conv(h, edges))
            loss = F.mse_loss(head(global_mean_pool(h, graph, molecules)), y)
            adamw.zero_grad()
            loss.backward()
            adamw.step()

    return run


FAMILIES = {"elementwise": elementwise, "reduce": reduce, "norm": norm, "random": random,
            "gemm": product, "linear": product, "gather": gather, "segment": segment,
            "message_passing": message_passing, "optimizer": optimizer, "attention": attention,
            "rotary": rotary, "step": step}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--tiny", action="store_true", help="one launch a row: does it work?")
    parser.add_argument("table")
    parser.add_argument("out")
    options = parser.parse_args()
    stopwatch = Stopwatch(options.device, 1 if options.tiny else 30)
    with open(options.table) as file:
        names = [line.split("|")[1].strip() for line in file
                 if line.startswith("| ") and line.split("|")[1].count("/") == 3]
    done = 0
    with open(options.out, "w") as out, torch.no_grad():
        out.write(f"PyTorch {torch.__version__}\n"
                  "| kernel/shape/dtype | microseconds |\n|---|---|\n")
        for name in names:
            family, kernel, shape, dtype = name.split("/")
            torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
            try:
                operands = Operands(options.device, DTYPES[dtype])
                work = FAMILIES[family](kernel, shape, operands)
                micros = None if work is None else f"{1e6 * stopwatch.median(work):.4g}"
            except (AttributeError, RuntimeError, TypeError, ValueError) as error:
                # This PyTorch has it not.
                print(f"{name}: {str(error).splitlines()[0]}")
                micros = None
            if micros is not None:
                out.write(f"| {name} | {micros} |\n")
                out.flush()
                done += 1
    print(f"{done} of {len(names)} rows have a counterpart in PyTorch {torch.__version__}")
    if done == 0:
        raise SystemExit("PyTorch ran none of them")


main()
