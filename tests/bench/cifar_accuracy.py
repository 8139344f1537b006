# SPDX-License-Identifier: Apache-2.0
"""Does Espalier learn as well as PyTorch, in every precision? ResNet-18 on CIFAR-10 as a folder of images, one recipe for all:
a tenth of each class set aside, batch 128, SGD 0.1 with Nesterov momentum 0.9, weight decay 5e-4, cosine with one epoch of
warm-up, crops from 4 pixels of padding and flips; the test accuracy of the epoch that was best on what was set aside.

    python3 cifar_accuracy.py DIR --train "espalier-train" [--epochs 15] [--seeds 1,2,3] [--ours fp32,fp16,bf16] [--torch fp16]

DIR holds train/CLASS and test/CLASS. All runs go at once, spread over the cards: times tell nothing, accuracies do.
"""
import argparse, json, os, pathlib, shlex, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = ["image_size=32", "label_smoothing=0", "schedule.warmup_epochs=1", "optimizer.nesterov=true", "backend=cuda",
            "validation_share=0.1"]


def cards():
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed:
        return listed.split(",")
    if not shutil.which("nvidia-smi"):
        return ["0"]
    found = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True).stdout.splitlines()
    return [str(i) for i in range(max(1, len(found)))]


def last_json(text):
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {}


def our_result(folder):
    accuracy, seconds = None, 0.0
    try:
        lines = (folder / "events.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return {}
    for event in map(json.loads, lines):
        if event["type"] == "epoch":
            seconds += event["seconds"]
        if event["type"] == "evaluation" and event["set"] == "test":
            accuracy = event["accuracy"]
    return {"accuracy": accuracy, "seconds": seconds} if accuracy is not None else {}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("data", type=pathlib.Path)
    options.add_argument("--train", default="espalier-train")
    options.add_argument("--epochs", type=int, default=15)
    options.add_argument("--seeds", default="1,2,3")
    options.add_argument("--ours", default="fp32,fp16,bf16")
    options.add_argument("--torch", default="fp16")
    options.add_argument("--out", type=pathlib.Path, default=None, help="where runs and logs go; else a temporary folder")
    options.add_argument("--set", action="append", default=[], help="a further setting of our runs; may be repeated")
    options.add_argument("--networks", type=pathlib.Path, default=None, help="folder of networks_torch.py, if it is not in its place")
    options = options.parse_args()
    out = options.out or pathlib.Path(tempfile.mkdtemp())
    out.mkdir(parents=True, exist_ok=True)
    seeds = options.seeds.split(",")

    environment = dict(os.environ, OMP_NUM_THREADS="2")
    if options.networks:
        environment["PYTHONPATH"] = str(options.networks)
    start, decoded, jobs = time.time(), out / "decoded.pt", []
    if options.torch:
        subprocess.run([sys.executable, str(HERE / "cifar_torch.py"), str(options.data), "--prepare", str(decoded)], env=environment, check=True)
        print(f"decoded in {time.time() - start:.0f} s", flush=True)
    for precision in filter(None, options.ours.split(",")):
        for seed in seeds:
            name = f"espalier {precision} {seed}"
            command = [*shlex.split(options.train), "run", "--preset", "train-large", "--data", f"folder:{options.data.resolve()}",
                       "--out", str(out / name.replace(" ", "-")), "--json"]
            for setting in [*SETTINGS, f"epochs={options.epochs}", f"seed={seed}", f"toggles.precision={precision}", *options.set]:
                command += ["--set", setting]
            jobs.append((name, command))
    for precision in filter(None, options.torch.split(",")):
        for seed in seeds:
            command = [sys.executable, str(HERE / "cifar_torch.py"), str(decoded), "--seed", seed, "--epochs", str(options.epochs), "--precision", precision]
            jobs.append((f"pytorch {precision} {seed}", command))

    available, running = cards(), []
    load = dict.fromkeys(available, 0)
    for name, command in jobs:
        card = min(load, key=load.get)
        load[card] += 5 if " fp32 " in name else 2 if name.startswith("pytorch") else 1  # about their GPU time
        log = open(out / (name.replace(" ", "-") + ".log"), "w")
        where = dict(environment, CUDA_VISIBLE_DEVICES=card)
        running.append((name, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=where), log.name))
    table = {}
    for name, process, log in running:
        process.wait()
        folder = out / name.replace(" ", "-")
        result = our_result(folder) if name.startswith("espalier") else last_json(pathlib.Path(log).read_text())
        if "accuracy" not in result:
            print(f"{name}: failed with code {process.returncode}; see {log}")
            print(pathlib.Path(log).read_text()[-600:])
            continue
        kind, precision, seed = name.split()
        table.setdefault(f"{kind} {precision}", []).append(100 * result["accuracy"])
        print(f"{name}: {100 * result['accuracy']:.2f} %  ({result['seconds']:.0f} s of training)", flush=True)
    print(f"\nTest accuracy after {options.epochs} epochs, % ({time.time() - start:.0f} s in all, {len(available)} cards)")
    for kind, values in table.items():
        print(f"{kind:16} " + "  ".join(f"{value:.2f}" for value in values) + f"   mean {sum(values) / len(values):.2f}")
    means = [sum(values) / len(values) for values in table.values()]
    if len(means) > 1:
        print(f"widest difference of means {max(means) - min(means):.2f} points")


if __name__ == "__main__":
    main()
