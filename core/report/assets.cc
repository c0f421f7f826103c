#include "core/report/assets.h"

namespace rlgo::report {

std::string_view page_style() {
  return R"(body{margin:0;font:14px/1.45 Helvetica,Arial,sans-serif;color:#222;background:#fff}
header{padding:16px 24px 8px;border-bottom:1px solid #ddd}
h1{font-size:22px;margin:0 0 6px}
h2{font-size:17px;margin:28px 0 8px}
nav a{margin-right:16px;color:#175ea8}
main{padding:0 24px 40px}
.figures{display:flex;flex-wrap:wrap;gap:12px;margin:14px 0}
.figure{border:1px solid #ddd;border-radius:6px;padding:8px 14px;min-width:130px}
.figure span{display:block}
.figure .name{color:#666;font-size:12px}
.figure .value{font-size:19px;font-weight:bold}
.figure .note{color:#444;font-size:12px}
.scroll{overflow-x:auto;max-height:480px;overflow-y:auto}
table{border-collapse:collapse}
th,td{padding:3px 10px;border-bottom:1px solid #e5e5e5;text-align:left;vertical-align:top}
th{position:sticky;top:0;background:#f6f6f6}
td.n{text-align:right;font-variant-numeric:tabular-nums}
details{margin:4px 0}
summary{cursor:pointer}
pre{background:#f6f6f6;padding:8px 12px;overflow-x:auto;font-size:12px;margin:4px 0}
.pair{display:flex;flex-wrap:wrap;gap:12px}
.viewer{flex:1 1 420px;border:1px solid #ccc;border-radius:6px;min-width:300px}
.viewer .bar{display:flex;gap:6px;align-items:center;padding:6px 8px;border-bottom:1px solid #ddd;background:#f6f6f6}
.viewer .bar b{margin-right:auto}
.viewer .canvas{height:70vh;overflow:hidden;background:#fff;cursor:grab}
.viewer .canvas svg{display:block;width:100%;height:100%}
.viewer .canvas svg.off{display:none}
.rlgo-graph .picked rect{stroke:#175ea8;stroke-width:3}
#picked{min-height:8em}
.legend span{display:inline-block;margin-right:14px}
.legend i{display:inline-block;width:12px;height:12px;margin-right:4px;border:1px solid #555;vertical-align:-1px}
.charts{display:flex;flex-wrap:wrap;gap:16px}
.chart text{font:11px Helvetica,Arial,sans-serif;fill:#444}
.chart text.name{font-size:13px;font-weight:bold;fill:#222}
.chart .grid{stroke:#e5e5e5}
.chart .axis{stroke:#888;fill:none}
.chart .line{fill:none;stroke-width:1.8}
.verdict{font-size:19px;font-weight:bold;margin:14px 0}
@media (prefers-color-scheme:dark){
body{color:#ddd;background:#16181c}
header,.figure,th,td,.viewer,.viewer .bar{border-color:#3a3d43}
th,pre,.viewer .bar{background:#22252b}
.figure .name,.figure .note{color:#aaa}
nav a,a{color:#7db4f0}
.chart text{fill:#bbb}
.chart text.name{fill:#ddd}
.chart .grid{stroke:#33363c}
.viewer .canvas{color:#222}
}
@media (max-width:700px){
main{padding:0 10px 24px}
header{padding:10px}
.figure{min-width:100%;box-sizing:border-box}
.viewer{flex-basis:100%;min-width:0}
.chart svg{max-width:100%;height:auto}
}
@media print{.viewer .canvas{height:auto}}
)";
}

std::string_view page_script() {
  return R"js((function () {
  'use strict';
  function viewer(root) {
    var canvas = root.querySelector('.canvas');
    var pictures = Array.from(canvas.querySelectorAll('svg'));
    var shown = 0;
    var box = null;
    function size(svg) { return [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]; }
    function apply() { pictures[shown].setAttribute('viewBox', box.join(' ')); }
    function fit(whole) {
      var s = size(pictures[shown]);
      var w = canvas.clientWidth || 400, h = canvas.clientHeight || 400;
      // Whole: all of it; else readable, from the top.
      var scale = whole ? Math.max(s[0] / w, s[1] / h) : Math.max(1, Math.min(s[0] / w, 1.6));
      box = [(s[0] - w * scale) / 2, whole ? (s[1] - h * scale) / 2 : 0, w * scale, h * scale];
      apply();
    }
    function zoom(factor, x, y) {
      var px = box[0] + box[2] * x, py = box[1] + box[3] * y;
      box = [px - box[2] * factor * x, py - box[3] * factor * y, box[2] * factor, box[3] * factor];
      apply();
    }
    function show(k) {
      shown = k;
      pictures.forEach(function (p, i) { p.classList.toggle('off', i !== k); });
      fit(false);
    }
    canvas.addEventListener('wheel', function (e) {
      e.preventDefault();
      var r = canvas.getBoundingClientRect();
      if (e.ctrlKey || e.shiftKey || e.altKey) zoom(e.deltaY > 0 ? 1.15 : 1 / 1.15, (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height);
      else { box[0] += e.deltaX * box[2] / r.width; box[1] += e.deltaY * box[3] / r.height; apply(); }
    }, { passive: false });
    var from = null;
    canvas.addEventListener('pointerdown', function (e) { from = [e.clientX, e.clientY]; });
    window.addEventListener('pointerup', function () { from = null; });
    canvas.addEventListener('pointermove', function (e) {
      if (!from) return;
      var r = canvas.getBoundingClientRect();
      box[0] -= (e.clientX - from[0]) * box[2] / r.width;
      box[1] -= (e.clientY - from[1]) * box[3] / r.height;
      from = [e.clientX, e.clientY];
      apply();
    });
    root.querySelectorAll('button').forEach(function (b) {
      b.addEventListener('click', function () {
        var what = b.getAttribute('data-do');
        if (what === 'in') zoom(1 / 1.3, 0.5, 0.5);
        else if (what === 'out') zoom(1.3, 0.5, 0.5);
        else if (what === 'fit') fit(true);
        else { show(1 - shown); b.textContent = shown === 0 ? b.getAttribute('data-other') : b.getAttribute('data-first'); }
      });
    });
    show(0);
  }
  function pick(group) {
    document.querySelectorAll('.picked').forEach(function (g) { g.classList.remove('picked'); });
    var id = group.getAttribute('data-id');
    if (id) document.querySelectorAll('.rlgo-graph .box').forEach(function (g) { if (g.getAttribute('data-id') === id) g.classList.add('picked'); });
    else group.classList.add('picked');
    var text = group.querySelector('title');
    var out = document.getElementById('picked');
    if (out) out.textContent = text ? text.textContent : '';
  }
  document.querySelectorAll('.viewer').forEach(viewer);
  document.querySelectorAll('.rlgo-graph .box').forEach(function (g) { g.addEventListener('click', function () { pick(g); }); });
  document.documentElement.setAttribute('data-ready', 'yes');
})();
)js";
}

}  // namespace rlgo::report
