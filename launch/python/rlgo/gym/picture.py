"""Pixels of a graph, drawn with Pillow from the engine's layout."""

from __future__ import annotations

from typing import Any

import numpy as np

_COLOURS = {"leaf": (232, 232, 232), "heavy": (189, 215, 238), "opaque": (214, 200, 230), "added": (198, 239, 206)}
_MOST_PIXELS = 24_000_000


def rgb(drawing: dict[str, Any], scale: float = 1.0) -> np.ndarray:
    """[height, width, 3] uint8. Pictures above 24 million pixels are made smaller."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise ImportError("render_mode='rgb_array' needs Pillow: pip install pillow") from error
    scale = min(scale, (_MOST_PIXELS / max(1.0, drawing["width"] * drawing["height"])) ** 0.5)
    image = Image.new("RGB", (max(1, int(drawing["width"] * scale)), max(1, int(drawing["height"] * scale))), "white")
    draw = ImageDraw.Draw(image)
    for route in drawing["routes"]:
        points = [(x * scale, y * scale) for x, y in route]
        if len(points) > 1:
            draw.line(points, fill=(120, 120, 120), width=1)
    for box in drawing["boxes"]:
        x, y, width, height = (v * scale for v in (box["x"], box["y"], box["width"], box["height"]))
        looks = box["look"].split()
        fill = next((_COLOURS[look] for look in ("added", *looks) if look in looks and look in _COLOURS), (255, 255, 255))
        draw.rectangle((x - width / 2, y - height / 2, x + width / 2, y + height / 2), fill=fill, outline=(70, 70, 70))
        if scale > 0.4:
            draw.text((x, y), box["title"], fill=(0, 0, 0), anchor="mm")
    return np.asarray(image)
