#!/usr/bin/env bash
# The drawing of docs/architecture.md is what launch/modules.tsv says.
exec "${RLGO_PYTHON:-python3}" "${RLGO_SOURCE:-.}/launch/scripts/draw_modules.py" --check
