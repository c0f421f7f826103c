#include "core/report/assets.h"

namespace rlgo::report {

namespace {

constexpr std::string_view kStyle =
    R"(body{margin:0;font:14px/1.45 Helvetica,Arial,sans-serif;color:#222;background:#fff}
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
.chart .reference{stroke-dasharray:5 4}
.chart .cursor{stroke:#888}
.chart .tip circle{fill:#888}
.chart .tip rect{fill:#fff;stroke:#888}
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
.chart .tip rect{fill:#22252b}
.viewer .canvas{color:#222}
}
@media (max-width:700px){
main{padding:0 10px 24px}
header{padding:10px}
.figure{min-width:100%;box-sizing:border-box}
.viewer{flex-basis:100%;min-width:0}
svg.chart{max-width:100%;height:auto}
}
@media print{.viewer .canvas{height:auto}}
)";

constexpr std::string_view kScript = R"js((function () {
  'use strict';
  // The pictures of a pair have one zoom, so that sizes compare; each is moved by itself.
  function viewer(root, pair) {
    var canvas = root.querySelector('.canvas');
    var pictures = Array.from(canvas.querySelectorAll('svg'));
    var shown = 0;
    var box = null;
    function size(svg) { return [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]; }
    function apply() { pictures[shown].setAttribute('viewBox', box.join(' ')); }
    // Picture units a screen unit. Whole: all of it is seen; else it can be read, from the top.
    function scale_of(whole) {
      var s = size(pictures[shown]);
      var w = canvas.clientWidth || 400, h = canvas.clientHeight || 400;
      return whole ? Math.max(s[0] / w, s[1] / h) : Math.max(1, Math.min(s[0] / w, 1.6));
    }
    function place(scale, whole) {
      var s = size(pictures[shown]);
      var w = canvas.clientWidth || 400, h = canvas.clientHeight || 400;
      box = [(s[0] - w * scale) / 2, whole ? (s[1] - h * scale) / 2 : 0, w * scale, h * scale];
      apply();
    }
    function zoom_here(factor, x, y) {
      var px = box[0] + box[2] * x, py = box[1] + box[3] * y;
      box = [px - box[2] * factor * x, py - box[3] * factor * y, box[2] * factor, box[3] * factor];
      apply();
    }
    function zoom(factor, x, y) {
      pair.forEach(function (other) { if (other !== me) other.zoom_here(factor, 0.5, 0.5); });
      zoom_here(factor, x, y);
    }
    function fit(whole) {
      var scale = Math.max.apply(null, pair.map(function (v) { return v.scale_of(whole); }));
      pair.forEach(function (v) { v.place(scale, whole); });
    }
    var me = { scale_of: scale_of, place: place, zoom_here: zoom_here };
    pair.push(me);
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
  // The values of a chart's lines where the pointer is.
  function chart(svg) {
    var ns = 'http://www.w3.org/2000/svg';
    var lines = Array.from(svg.querySelectorAll('path[data-points]')).map(function (path) {
      return { name: path.getAttribute('data-name'), reference: path.classList.contains('reference'), points: path.getAttribute('data-points').split(',').map(function (p) { return p.split(' ').map(Number); }) };
    });
    var tip = document.createElementNS(ns, 'g');
    tip.setAttribute('class', 'tip');
    svg.appendChild(tip);
    function add(kind, attributes, text) {
      var e = document.createElementNS(ns, kind);
      Object.keys(attributes).forEach(function (k) { e.setAttribute(k, attributes[k]); });
      if (text) e.textContent = text;
      tip.appendChild(e);
      return e;
    }
    function clear() { while (tip.firstChild) tip.removeChild(tip.firstChild); }
    svg.addEventListener('pointerleave', clear);
    svg.addEventListener('pointermove', function (e) {
      var r = svg.getBoundingClientRect(), box = svg.viewBox.baseVal;
      var x = (e.clientX - r.left) * box.width / r.width;
      clear();
      var near = lines.map(function (line) {
        return line.points.reduce(function (a, b) { return Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a; });
      });
      var at = near.reduce(function (a, b) { return Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a; });
      add('path', { 'class': 'cursor', d: 'M' + at[0] + ' 30V' + (box.height - 44) });
      var text = ['at ' + at[2]].concat(lines.map(function (line, i) { return (line.name ? line.name + ': ' : '') + near[i][3]; }));
      var width = 14 + 6.2 * Math.max.apply(null, text.map(function (t) { return t.length; }));
      var left = at[0] + 10 + width > box.width ? at[0] - 10 - width : at[0] + 10;
      add('rect', { x: left, y: 34, width: width, height: 8 + 14 * text.length, rx: 3 });
      text.forEach(function (t, i) { add('text', { x: left + 7, y: 50 + 14 * i }, t); });
      near.forEach(function (p, i) { if (!lines[i].reference) add('circle', { cx: p[0], cy: p[1], r: 3 }); });
    });
  }
  document.querySelectorAll('svg.chart').forEach(chart);
  document.querySelectorAll('.pair').forEach(function (p) {
    var pair = [];
    p.querySelectorAll('.viewer').forEach(function (v) { viewer(v, pair); });
  });
  document.querySelectorAll('.rlgo-graph .box').forEach(function (g) { g.addEventListener('click', function () { pick(g); }); });
  document.documentElement.setAttribute('data-ready', 'yes');
})();
)js";

}  // namespace

std::string_view page_style() { return kStyle; }
std::string_view page_script() { return kScript; }

}  // namespace rlgo::report
