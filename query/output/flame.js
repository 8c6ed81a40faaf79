// SPDX-License-Identifier: BSD-3-Clause
// What makes a flame graph in svg zoom and search, where the file is opened by itself. A click on a box makes it as wide
// as the picture, a click on the uppermost one or Escape leads back; / or a click on the words above asks for a text, and
// what has it in its name is framed. Names are only ever set as text.
(function () {
  var W = 1200, told = document.getElementById("told");
  var boxes = [].map.call(document.querySelectorAll("g.b"), function (g) {
    var r = g.querySelector("rect"), title = g.querySelector("title").textContent;
    return { g: g, r: r, x: +r.getAttribute("x"), w: +r.getAttribute("width") + 0.5, y: +r.getAttribute("y"), name: title.split("\n")[0], t: g.querySelector("text") };
  });
  var top = boxes.reduce(function (y, b) { return Math.min(y, b.y); }, Infinity);
  var within = function (a, b) { return a.x >= b.x - 0.2 && a.x + a.w <= b.x + b.w + 0.2; };

  function label(b, x, w) {
    var room = Math.floor((w - 6) / 7);
    if (!b.t && room < 2) return;
    if (!b.t) {
      b.t = document.createElementNS("http://www.w3.org/2000/svg", "text");
      b.t.setAttribute("y", b.y + 13);
      b.g.appendChild(b.t);
    }
    b.t.style.display = room < 2 ? "none" : "";
    b.t.setAttribute("x", x + 3);
    b.t.textContent = b.name.length > room ? b.name.slice(0, room - 1) + "\u2026" : b.name;
  }

  function zoom(z) {
    boxes.forEach(function (b) {
      var around = b.y < z.y && within(z, b), inside = b.y >= z.y && within(b, z);
      b.g.style.display = around || inside ? "" : "none";
      if (!around && !inside) return;
      var x = around ? 0 : (b.x - z.x) * W / z.w, w = around ? W : b.w * W / z.w;
      b.r.setAttribute("x", x);
      b.r.setAttribute("width", Math.max(0.1, w - 0.5));
      label(b, x, w);
    });
  }

  function search(text) {
    var sum = 0, found = [];
    boxes.forEach(function (b) {
      var hit = !!text && b.name.toLowerCase().indexOf(text.toLowerCase()) >= 0;
      b.g.setAttribute("class", hit ? "b hit" : "b");
      if (!hit) return;
      if (!found.some(function (f) { return f.y < b.y && within(b, f); })) sum += b.w;
      found.push(b);
    });
    told.textContent = text ? found.length + " boxes, " + (100 * sum / W).toFixed(1) + " %: " + text : "a click zooms, / searches, Esc leads back";
  }

  function ask() { search(prompt("search for") || ""); }
  boxes.forEach(function (b) {
    b.g.addEventListener("click", function () { zoom(b.y === top ? { x: 0, w: W, y: top } : b); });
  });
  document.documentElement.addEventListener("keydown", function (e) {
    if (e.key === "/") {
      e.preventDefault();
      ask();
    } else if (e.key === "Escape") {
      zoom({ x: 0, w: W, y: top });
      search("");
    }
  });
  told.addEventListener("click", ask);
  search("");
})();
