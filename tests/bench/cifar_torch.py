# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of cifar_accuracy.py: ResNet-18 on a folder of images of 32x32 pixels, with the recipe that Espalier's run is given.

    python3 cifar_torch.py DIR --prepare FILE                 decodes DIR/train and DIR/test once
    python3 cifar_torch.py FILE --seed 1 --epochs 15 --precision fp16|bf16|tf32|fp32

The last line is JSON: test accuracy of the epoch that was best on the validation images (a tenth of each class, by seed).
Convolutions begin with Kaiming's normal values (fan in), as in Espalier. Batches, schedule, augmentation and statistics are its, too;
the data set lies on the GPU.
"""
import argparse, copy, json, math, multiprocessing, pathlib, sys, time
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "reference"))
sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import torch, torch.nn as nn, torch.nn.functional as F

BATCH, RATE, MOMENTUM, DECAY, WARMUP_EPOCHS, PAD = 128, 0.1, 0.9, 5e-4, 1, 4


def pixels_of(folder):
    """All images of a folder, one after the other, as bytes [H, W, 3]."""
    from PIL import Image
    return b"".join(Image.open(path).convert("RGB").tobytes() for path in sorted(folder.iterdir()))


def prepare(folder, file):
    names = sorted(path.name for path in (folder / "train").iterdir())
    tensors = {}
    with multiprocessing.Pool() as pool:
        for part in ("train", "test"):
            classes = [torch.frombuffer(bytearray(pixels), dtype=torch.uint8).view(-1, 32, 32, 3)
                       for pixels in pool.map(pixels_of, [folder / part / name for name in names])]
            labels = [torch.full((len(images),), label) for label, images in enumerate(classes)]
            tensors[part] = (torch.cat(classes).permute(0, 3, 1, 2).contiguous(), torch.cat(labels))
    torch.save(tensors, file)


def split(labels, share, generator):
    """Indices of the training images and of `share` of each class."""
    validation = torch.cat([where[torch.randperm(len(where), generator=generator)[:round(share * len(where))]]
                            for where in ((labels == c).nonzero()[:, 0] for c in range(int(labels.max()) + 1))])
    chosen = torch.zeros(len(labels), dtype=torch.bool)
    chosen[validation] = True
    return (~chosen).nonzero()[:, 0], validation


def learning_rate(step, per_epoch, epochs):
    warmup = round(WARMUP_EPOCHS * per_epoch)
    if step < warmup:
        return RATE * (step + 1) / (warmup + 1)
    return RATE * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, epochs * per_epoch - warmup)))


def augmented(padded, chosen):
    """Random crops of the padded images, flipped with probability 1/2."""
    n, side = len(chosen), padded.shape[2] - 2 * PAD
    place = torch.arange(side, device=padded.device)
    rows = torch.randint(2 * PAD + 1, (n, 1), device=padded.device) + place
    columns = torch.where(torch.rand(n, 1, device=padded.device) < 0.5, place, place.flip(0))
    columns = torch.randint(2 * PAD + 1, (n, 1), device=padded.device) + columns
    channels = torch.arange(3, device=padded.device).view(1, 3, 1, 1)
    return padded[chosen.view(n, 1, 1, 1), channels, rows.view(n, 1, side, 1), columns.view(n, 1, 1, side)]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("source", type=pathlib.Path)
    options.add_argument("--prepare", type=pathlib.Path)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--epochs", type=int, default=15)
    options.add_argument("--precision", default="fp16")
    options = options.parse_args()
    if options.prepare:
        return prepare(options.source, options.prepare)

    from networks_torch import ResNet18
    torch.manual_seed(options.seed)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    type16 = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(options.precision)
    device = "cuda"

    parts = torch.load(options.source)
    images, labels = (tensor.to(device) for tensor in parts["train"])
    train, validation = split(labels.cpu(), 0.1, torch.Generator().manual_seed(options.seed))
    train, validation = train.to(device), validation.to(device)
    values = images[train].float() / 255
    mean, deviation = values.mean((0, 2, 3)).view(1, 3, 1, 1), values.std((0, 2, 3), correction=0).view(1, 3, 1, 1)
    del values
    padded = F.pad(images, (PAD,) * 4)

    def ready(pixels):
        return ((pixels.float() / 255 - mean) / deviation).contiguous(memory_format=torch.channels_last)

    model = ResNet18().to(device, memory_format=torch.channels_last)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_in", nonlinearity="relu")
    optimizer = torch.optim.SGD(model.parameters(), RATE, MOMENTUM, weight_decay=DECAY, nesterov=True, fused=True)
    scaler = torch.amp.GradScaler(enabled=options.precision == "fp16")

    def forward(pixels):
        with torch.autocast(device, type16 or torch.float16, enabled=type16 is not None):
            return model(ready(pixels)).float()

    def accuracy(pixels, truth):
        model.eval()
        with torch.no_grad():
            right = sum((forward(p).argmax(1) == t).sum() for p, t in zip(pixels.split(1000), truth.split(1000)))
        return right.item() / len(truth)

    per_epoch, start, best = math.ceil(len(train) / BATCH), time.time(), (-1, None, 0)
    for epoch in range(options.epochs):
        model.train()
        order = train[torch.randperm(len(train), device=device)]
        for step, chosen in enumerate(order.split(BATCH)):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(epoch * per_epoch + step, per_epoch, options.epochs)
            loss = F.cross_entropy(forward(augmented(padded, chosen)), labels[chosen])
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        measured = accuracy(images[validation], labels[validation])
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, validation {100 * measured:.2f} %, {time.time() - start:.1f} s", flush=True)
        if measured > best[0]:
            best = (measured, copy.deepcopy(model.state_dict()), epoch + 1)
    model.load_state_dict(best[1])
    test_images, test_labels = (tensor.to(device) for tensor in parts["test"])
    print(json.dumps({"accuracy": accuracy(test_images, test_labels), "best_epoch": best[2], "seconds": time.time() - start}))


if __name__ == "__main__":
    main()
