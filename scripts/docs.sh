#!/usr/bin/env bash
# Keeps the documentation true: runs every command that README.md and the docs show, compares what they print,
# draws the pictures of docs/images again (hours of processor time in all), executes the notebooks, and builds the
# site into build/site/html.
#
#   scripts/docs.sh                    all of it
#   scripts/docs.sh --most-seconds 5   only commands that are estimated to take no more core-seconds; nothing else
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
scripts/bootstrap.sh --core
onset=build/release/bin/onset
/usr/bin/python3 scripts/docs.py --command "$onset" "$@"
[[ $# -gt 0 ]] && exit 0
/usr/bin/python3 scripts/gallery.py --command "$onset"

# A picture that is called as a figure is drawn by it; the others say on their page how they were made.
for picture in docs/images/*.png; do
  id=$(basename "$picture" .png)
  if [[ -e figures/$id.toml ]]; then
    # A few are drawn with options, which the gallery states.
    read -ra options < <(sed -n "s/^$id = \"\(.*\)\"/\1/p" docs/images/options.toml) || true
    "$onset" figure "$id" "${options[@]}" --out "onset-out/$id"
    cp "onset-out/$id/$id.png" "$picture"
  fi
done

scripts/bootstrap.sh --full
/usr/bin/python3 scripts/notebooks.py
/usr/bin/python3 scripts/site.py --command "$onset"
