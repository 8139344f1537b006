#!/bin/sh
# Makes the pictures of docs/ from a real run:   tests/gui/make_pictures.sh BUILD_DIR
set -e
build=${1:?the build folder}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QT_QPA_PLATFORM=offscreen LC_ALL=C.UTF-8 ESPALIER_RUNS="$work/runs"
"$build/bin/espalier-train" run --preset quick --data builtin --out "$work/runs/quick-1" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$build/bin/espalier_grab" "$work/pictures" --run "$work/runs/quick-1" --engine "$build/bin/espalier-train" --until 0.62
ESPALIER_RUNS="$work/more" "$build/bin/espalier_grab" "$work/pictures" --engine "$build/bin/espalier-train" --live 0 \
    --preset quick --set data=builtin
mkdir -p "$root/docs/pictures"
for state in gallery configuring running finished results results-images; do
    for theme in light dark; do
        cp "$work/pictures/$state-$theme.png" "$root/docs/pictures/"
    done
done
