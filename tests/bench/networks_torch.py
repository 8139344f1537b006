# SPDX-License-Identifier: Apache-2.0
"""Reference networks in PyTorch, written from their definitions in ../design/NETWORKS.md.

They serve two ends: the numeric oracle of fixtures/ (make_fixtures.py) and the peer that benchmarks run beside.
Parameter names are plain paths, so that a fixture's tensors can be matched one by one.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

OPS10 = ["none", "avg_pool_3x3", "max_pool_3x3", "skip_connect", "sep_conv_3x3", "sep_conv_5x5", "sep_conv_7x7",
         "dil_conv_3x3", "dil_conv_5x5", "conv_7x1_1x7"]
OPS8 = [op for op in OPS10 if op not in ("sep_conv_7x7", "conv_7x1_1x7")]


class Seq(nn.Sequential):
    pass


def conv(ci, co, k, s=1, p=0, d=1, g=1):
    return nn.Conv2d(ci, co, k, s, p, d, g, bias=False)


def relu_conv_bn(ci, co, affine):
    return Seq(nn.ReLU(), conv(ci, co, 1), nn.BatchNorm2d(co, affine=affine))


class FactorizedReduce(nn.Module):
    """Halves height and width: two 1x1 stride-2 convolutions, the second on the input shifted by one pixel."""

    def __init__(self, ci, co, affine):
        super().__init__()
        self.conv_a, self.conv_b = conv(ci, co // 2, 1, 2), conv(ci, co - co // 2, 1, 2)
        self.bn = nn.BatchNorm2d(co, affine=affine)

    def forward(self, x):
        x = F.relu(x)
        b = F.pad(x, (0, x.shape[3] % 2, 0, x.shape[2] % 2))[:, :, 1:, 1:] if x.shape[2] % 2 or x.shape[3] % 2 else x[:, :, 1:, 1:]
        return self.bn(torch.cat([self.conv_a(x), self.conv_b(b)], 1))


class Zero(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s

    def forward(self, x):
        return x[:, :, ::self.s, ::self.s] * 0.0


def sep_conv(c, k, s, affine):
    p = k // 2
    return Seq(nn.ReLU(), conv(c, c, k, s, p, 1, c), conv(c, c, 1), nn.BatchNorm2d(c, affine=affine),
               nn.ReLU(), conv(c, c, k, 1, p, 1, c), conv(c, c, 1), nn.BatchNorm2d(c, affine=affine))


def dil_conv(c, k, s, affine):
    return Seq(nn.ReLU(), conv(c, c, k, s, k - 1, 2, c), conv(c, c, 1), nn.BatchNorm2d(c, affine=affine))


def candidate(op, c, s, affine):
    if op == "none":
        return Zero(s)
    if op == "avg_pool_3x3":
        return Seq(nn.AvgPool2d(3, s, 1, count_include_pad=False), nn.BatchNorm2d(c, affine=affine))
    if op == "max_pool_3x3":
        return Seq(nn.MaxPool2d(3, s, 1), nn.BatchNorm2d(c, affine=affine))
    if op == "skip_connect":
        return nn.Identity() if s == 1 else FactorizedReduce(c, c, affine)
    if op.startswith("sep_conv"):
        return sep_conv(c, int(op[-1]), s, affine)
    if op.startswith("dil_conv"):
        return dil_conv(c, int(op[-1]), s, affine)
    if op == "conv_7x1_1x7":
        return Seq(nn.ReLU(), conv(c, c, (1, 7), (1, s), (0, 3)), conv(c, c, (7, 1), (s, 1), (3, 0)), nn.BatchNorm2d(c, affine=affine))
    raise ValueError(op)


class MixedOp(nn.Module):
    def __init__(self, ops, c, s):
        super().__init__()
        self.ops = nn.ModuleList(candidate(o, c, s, False) for o in ops)

    def forward(self, x, w):
        return sum(w[i] * op(x) for i, op in enumerate(self.ops))


class Cell(nn.Module):
    def __init__(self, ops, nodes, cpp, cp, c, reduction, reduction_prev):
        super().__init__()
        self.reduction, self.nodes = reduction, nodes
        self.pre0 = FactorizedReduce(cpp, c, False) if reduction_prev else relu_conv_bn(cpp, c, False)
        self.pre1 = relu_conv_bn(cp, c, False)
        self.edges = nn.ModuleList(MixedOp(ops, c, 2 if reduction and j < 2 else 1) for i in range(nodes) for j in range(2 + i))

    def forward(self, s0, s1, w):
        states, k = [self.pre0(s0), self.pre1(s1)], 0
        for _ in range(self.nodes):
            new = sum(self.edges[k + j](h, w[k + j]) for j, h in enumerate(states))
            k += len(states)
            states.append(new)
        return torch.cat(states[-self.nodes:], 1)


class Supernet(nn.Module):
    """The search network: a stem, `layers` cells (reductions at layers//3 and 2*layers//3), a linear classifier."""

    def __init__(self, init_channels, layers, ops=OPS10, in_channels=3, classes=10, nodes=4, stem_multiplier=3):
        super().__init__()
        c, cc = init_channels, stem_multiplier * init_channels
        self.stem = Seq(conv(in_channels, cc, 3, 1, 1), nn.BatchNorm2d(cc))
        cells, cpp, cp, prev = [], cc, cc, False
        for i in range(layers):
            red = i in (layers // 3, 2 * layers // 3)
            c *= 2 if red else 1
            cells.append(Cell(ops, nodes, cpp, cp, c, red, prev))
            cpp, cp, prev = cp, nodes * c, red
        self.cells = nn.ModuleList(cells)
        self.classifier = nn.Linear(cp, classes)
        edges = sum(2 + i for i in range(nodes))
        self.alpha_normal = nn.Parameter(1e-3 * torch.randn(edges, len(ops)))
        self.alpha_reduce = nn.Parameter(1e-3 * torch.randn(edges, len(ops)))

    def forward(self, x):
        s0 = s1 = self.stem(x)
        wn, wr = self.alpha_normal.softmax(-1), self.alpha_reduce.softmax(-1)
        for cell in self.cells:
            s0, s1 = s1, cell(s0, s1, wr if cell.reduction else wn)
        return self.classifier(s1.mean((2, 3)))

    def weights(self):
        return [p for n, p in self.named_parameters() if not n.startswith("alpha")]

    def alphas(self):
        return [self.alpha_normal, self.alpha_reduce]


class Branch(nn.Module):
    """scale * projection(ReLU(BN(conv5x5(x)))): forks at the block's input, joins after the block's ReLU.

    The projection (1x1, identity on the channels that exist, zero rows for later ones) is there only where the widths differ.
    A new branch has scale 0, so that the output does not change.
    """

    def __init__(self, ci, width, co, s, scale=0.0):
        super().__init__()
        self.conv, self.bn = conv(ci, width, 5, s, 2), nn.BatchNorm2d(width)
        self.projection = None
        if width != co:
            self.projection = conv(width, co, 1)
            with torch.no_grad():
                self.projection.weight.zero_()
                for c in range(min(width, co)):
                    self.projection.weight[c, c, 0, 0] = 1.0
        self.scale = nn.Parameter(torch.tensor([scale]))

    def forward(self, x):
        y = F.relu(self.bn(self.conv(x)))
        return self.scale * (self.projection(y) if self.projection is not None else y)


class Block(nn.Module):
    """ReLU(BN(conv3x3(x))) plus its branches; with residual=True (a block put in by grow_depth) x + scale * ReLU(BN(conv3x3(x)))."""

    def __init__(self, ci, co, s, residual=False, scale=0.0):
        super().__init__()
        self.conv, self.bn = conv(ci, co, 3, s, 1), nn.BatchNorm2d(co)
        self.scale = nn.Parameter(torch.tensor([scale])) if residual else None
        self.branches = nn.ModuleList()

    def forward(self, x):
        y = F.relu(self.bn(self.conv(x)))
        y = x + self.scale * y if self.scale is not None else y
        for b in self.branches:
            y = y + b(x)
        return y


class GrowingNetwork(nn.Module):
    """Stem and blocks, then global average pooling and a linear layer. The default, 32->32, 32->64 (stride 2), 64->64, has 66,410 parameters."""

    def __init__(self, widths=(32, 64, 64), strides=(1, 2, 1), stem=32, in_channels=3, classes=10):
        super().__init__()
        self.stem = Seq(conv(in_channels, stem, 3, 1, 1), nn.BatchNorm2d(stem), nn.ReLU())
        blocks, ci = [], stem
        for co, s in zip(widths, strides):
            blocks.append(Block(ci, co, s))
            ci = co
        self.blocks = nn.ModuleList(blocks)
        self.classifier = nn.Linear(ci, classes)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return self.classifier(x.mean((2, 3)))


def grown_network():
    """A growing network after one of each: a branch of equal width, a branch whose block was widened (projection), a depth block."""
    net = GrowingNetwork((16, 24, 24), (1, 2, 1), 16)
    net.blocks[0].branches.append(Branch(16, 16, 16, 1, 0.3))
    net.blocks[1].branches.append(Branch(16, 20, 24, 2, -0.2))
    net.blocks.insert(3, Block(24, 24, 1, residual=True, scale=0.4))
    return net


class ResNet18(nn.Module):
    """ResNet-18 for 32x32 images (3x3 stem, no max pooling)."""

    def __init__(self, classes=10, in_channels=3, width=64):
        super().__init__()
        w = width
        self.stem = Seq(conv(in_channels, w, 3, 1, 1), nn.BatchNorm2d(w), nn.ReLU())
        blocks, ci = [], w
        for co, s in [(w, 1), (w, 1), (2 * w, 2), (2 * w, 1), (4 * w, 2), (4 * w, 1), (8 * w, 2), (8 * w, 1)]:
            b = nn.ModuleDict(dict(conv1=conv(ci, co, 3, s, 1), bn1=nn.BatchNorm2d(co), conv2=conv(co, co, 3, 1, 1), bn2=nn.BatchNorm2d(co)))
            if s != 1 or ci != co:
                b["shortcut"] = Seq(conv(ci, co, 1, s), nn.BatchNorm2d(co))
            blocks.append(b)
            ci = co
        self.blocks = nn.ModuleList(blocks)
        self.classifier = nn.Linear(ci, classes)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            y = b["bn2"](b["conv2"](F.relu(b["bn1"](b["conv1"](x)))))
            x = F.relu(y + (b["shortcut"](x) if "shortcut" in b else x))
        return self.classifier(x.mean((2, 3)))


class GenotypeNetwork(nn.Module):
    """The discrete network of a genotype: per node two (operation, input) pairs; affine batch norm; no none, no alphas."""

    NORMAL = [("sep_conv_3x3", 0), ("sep_conv_3x3", 1), ("sep_conv_3x3", 0), ("sep_conv_3x3", 1), ("sep_conv_3x3", 1), ("skip_connect", 0), ("skip_connect", 0), ("dil_conv_3x3", 2)]
    REDUCE = [("max_pool_3x3", 0), ("max_pool_3x3", 1), ("skip_connect", 2), ("max_pool_3x3", 1), ("max_pool_3x3", 0), ("skip_connect", 2), ("skip_connect", 2), ("max_pool_3x3", 1)]

    class Cell(nn.Module):
        def __init__(self, pairs, cpp, cp, c, reduction, reduction_prev):
            super().__init__()
            self.pairs = pairs
            self.pre0 = FactorizedReduce(cpp, c, True) if reduction_prev else relu_conv_bn(cpp, c, True)
            self.pre1 = relu_conv_bn(cp, c, True)

            def make(op, s):
                if op == "max_pool_3x3":
                    return nn.MaxPool2d(3, s, 1)
                if op == "avg_pool_3x3":
                    return nn.AvgPool2d(3, s, 1, count_include_pad=False)
                return candidate(op, c, s, True)
            self.ops = nn.ModuleList(make(op, 2 if reduction and j < 2 else 1) for op, j in pairs)

        def forward(self, s0, s1):
            states = [self.pre0(s0), self.pre1(s1)]
            for i in range(len(self.pairs) // 2):
                states.append(self.ops[2 * i](states[self.pairs[2 * i][1]]) + self.ops[2 * i + 1](states[self.pairs[2 * i + 1][1]]))
            return torch.cat(states[2:], 1)

    def __init__(self, init_channels, layers, in_channels=3, classes=10, normal=None, reduce=None, stem_multiplier=3):
        super().__init__()
        normal, reduce = normal or self.NORMAL, reduce or self.REDUCE
        c, cc = init_channels, stem_multiplier * init_channels
        self.stem = Seq(conv(in_channels, cc, 3, 1, 1), nn.BatchNorm2d(cc))
        cells, cpp, cp, prev = [], cc, cc, False
        for i in range(layers):
            red = i in (layers // 3, 2 * layers // 3)
            c *= 2 if red else 1
            cells.append(self.Cell(reduce if red else normal, cpp, cp, c, red, prev))
            cpp, cp, prev = cp, len(normal) // 2 * c, red
        self.cells = nn.ModuleList(cells)
        self.classifier = nn.Linear(cp, classes)

    def forward(self, x):
        s0 = s1 = self.stem(x)
        for cell in self.cells:
            s0, s1 = s1, cell(s0, s1)
        return self.classifier(s1.mean((2, 3)))
