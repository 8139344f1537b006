#!/bin/sh
# Makes the pictures of docs/ from real runs:   tests/gui/make_pictures.sh BUILD_DIR
# Every state in both themes at 1280x720, at twice the pixels (NAME@2x.png), and in Chinese (NAME-zh.png), for which a font
# with Chinese letters has to be there. pngquant makes the files three times smaller.
set -e
build=${1:?the build folder}
command -v pngquant >/dev/null || { echo "pngquant is missing: apt install pngquant" >&2; exit 1; }
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QT_QPA_PLATFORM=offscreen LC_ALL=C.UTF-8 ESPALIER_RUNS="$work/runs"
"$build/bin/espalier-train" run --preset quick --data builtin --out "$work/runs/quick-1" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$build/bin/espalier-train" run --preset quick --data builtin --set epochs=12 --set optimizer.learning_rate=0.05 \
    --out "$work/runs/quick-2" >> "$work/log" 2>&1

states="gallery configuring running paused finished failed results results-images results-prediction setup layers network log fallback
compare queue notes machines add-machine no-connection"

take() { # FOLDER LANGUAGE: all states into FOLDER
    "$build/bin/espalier_grab" "$1/stand-in" --language "$2" # a queue, which the real engine would empty meanwhile
    "$build/bin/espalier_grab" "$1/real" --language "$2" --run "$work/runs/quick-1" --engine "$build/bin/espalier-train" --until 0.62
    ESPALIER_RUNS="$1/more" "$build/bin/espalier_grab" "$1/live" --language "$2" --engine "$build/bin/espalier-train" --live 0 \
        --preset quick --set data=builtin
}
keep() { # FOLDER SUFFIX ENDING STATES: NAME-THEME+SUFFIX.png of FOLDER as docs/pictures/NAME-THEME+ENDING.png
    for state in $4; do
        for theme in light dark; do
            for source in live real stand-in; do
                picture=$1/$source/$state-$theme$2.png
                [ -e "$picture" ] || continue
                pngquant --force --speed 1 --quality 85-100 --nofs --strip --output "$root/docs/pictures/$state-$theme$3.png" "$picture"
                break
            done
        done
    done
}

mkdir -p "$root/docs/pictures"
take "$work/plain" en
keep "$work/plain" "" "" "$states"
export QT_SCALE_FACTOR=2
take "$work/twice" en
keep "$work/twice" @2x @2x "$states"
unset QT_SCALE_FACTOR
take "$work/chinese" zh_CN
keep "$work/chinese" "" -zh "$states"
