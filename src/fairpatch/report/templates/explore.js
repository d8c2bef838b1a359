"use strict";
(function () {
  var data = JSON.parse(document.getElementById("explorer-data").textContent);
  var by = function (id) { return document.getElementById(id); };
  var moved = false, budget = null, dots = by("dots").children, sign = data.at_least ? 1 : -1;
  var most = Math.max.apply(null, data.points.map(function (p) { return p.changed[1]; }).concat([0.001]));
  var top = data.at_least ? 1 : data.highest;

  function middle(ends) { return (ends[0] + ends[1]) / 2; }
  function percent(ends) {
    var low = (100 * ends[0]).toFixed(1), high = (100 * ends[1]).toFixed(1);
    return low === high ? low + " %" : low + " to " + high + " %";
  }
  function digits(ends) {
    var low = ends[0].toFixed(2), high = ends[1].toFixed(2);
    return low === high ? low : low + " to " + high;
  }
  function quoted(text) { return "'" + text.replace(/'/g, "'\\''") + "'"; }

  // What the controls say.
  function state() {
    var strike = by("x-strike");
    return {
      limit: data.limits[Number(by("x-limit").value)],
      budget: by("x-budget").value === budget ? data.max_changes : most * Number(by("x-budget").value) / 100,
      all: Number(by("x-budget").value) === 100,
      feature: Number(by("x-feature").value),
      direction: by("x-direction").value,
      price: Number(by("x-prefer").value),
      strike: strike === null || strike.value === "" ? "" : data.lines[Number(strike.value)]
    };
  }
  // The value of what is asked: of one feature, or of the one that is worst off.
  function fairness(point, feature) {
    if (feature >= 0) return point.fairness[feature];
    return point.fairness.reduce(function (a, b) { return sign * middle(a) <= sign * middle(b) ? a : b; });
  }
  function allowed(point, now) {
    if ((point.struck || "") !== now.strike) return false;
    return now.direction === "both" || point.direction === now.direction;
  }
  function meets(point, now) {
    return sign * middle(fairness(point, now.feature)) >= sign * now.limit && middle(point.changed) <= now.budget;
  }
  function cost(point, now) { return now.price * middle(point.changed) - middle(point.accuracy); }

  function choose(now) {
    if (!moved) { // what was chosen, until somebody moves a control
      var own = data.points.filter(function (p) { return p.chosen; })[0];
      if (own) return { point: own, met: true, as: "As chosen, on the selection set: " };
    }
    var best = null, nearest = null;
    data.points.forEach(function (p) {
      if (!allowed(p, now)) return;
      if (meets(p, now) && (best === null || cost(p, now) < cost(best, now))) best = p;
      var missed = sign * (now.limit - middle(fairness(p, now.feature)));
      if (middle(p.changed) <= now.budget && (nearest === null || missed < nearest.missed)) nearest = { missed: missed, point: p };
    });
    return { point: best || (nearest && nearest.point) || data.before, met: best !== null };
  }
  function x(share) { return 40 + 370 * share / most; }
  function y(value) { return 260 - 240 * value / top; }

  function bounds(now) {
    // of several features, the most that one of them needs
    return data.bound_limits.map(function (limit, i) {
      var needed = data.bounds.filter(function (b) {
        return b.direction === now.direction && (now.feature < 0 || b.feature === now.feature);
      }).map(function (b) { return b.known[i]; });
      return needed.length && needed.indexOf(null) < 0 ? Math.max.apply(null, needed) : null;
    });
  }
  function drawPlot(now, found) {
    data.points.forEach(function (p, i) {
      var off = !allowed(p, now) || middle(p.changed) > now.budget;
      dots[i].setAttribute("class", "dot" + (off ? " off" : meets(p, now) ? "" : " missed"));
      dots[i].setAttribute("cy", y(middle(fairness(p, now.feature))).toFixed(1));
    });
    by("asked").setAttribute("y1", y(now.limit)); by("asked").setAttribute("y2", y(now.limit));
    var line = bounds(now).map(function (share, i) {
      return share === null || share > most ? null : x(share).toFixed(1) + "," + y(data.bound_limits[i]).toFixed(1);
    }).filter(Boolean);
    by("bound").setAttribute("points", line.join(" "));
    var value = middle(fairness(found.point, now.feature));
    by("star").setAttribute("transform", "translate(" + x(middle(found.point.changed)).toFixed(1) + " " + y(value).toFixed(1) + ")");
  }
  function element(name, className, text) {
    var made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function drawFlow(now, found) {
    var flow = by("f-flow");
    flow.textContent = "";
    data.features.forEach(function (feature, i) {
      if (now.feature >= 0 && now.feature !== i) return;
      feature.groups.forEach(function (group, g) {
        var before = middle(data.before.rates[i][g]), after = middle(found.point.rates[i][g]);
        var row = element("div", "group"), who = element("div", "who"), bar = element("div", "bar");
        who.appendChild(element("b", "", group.name));
        who.appendChild(element("span", "", percent(data.before.rates[i][g]) + " \u2192 " + percent(found.point.rates[i][g])));
        [["had", Math.min(before, after)], ["up", Math.max(after - before, 0)], ["down", Math.max(before - after, 0)]].forEach(function (part) {
          var span = element("span", part[0]);
          span.style.width = (100 * part[1]).toFixed(2) + "%";
          bar.appendChild(span);
        });
        row.appendChild(who); row.appendChild(bar); flow.appendChild(row);
      });
    });
  }
  // The very lines of the scorecard whose figures are shown, not those of the one that was chosen.
  function drawCard(now, p) {
    var box = by("f-card"), own = data.points.filter(function (q) { return q.chosen; })[0];
    box.textContent = "";
    if (p.card === null || p.card === undefined) return;
    if (own && p.card !== own.card && !now.strike) box.appendChild(element("b", "", "Another scorecard than the one reviewed: "));
    data.cards[p.card].forEach(function (line, i) {
      if (i) box.appendChild(document.createTextNode("; "));
      box.appendChild(element("span", "", line));
    });
    if (now.strike) { box.appendChild(document.createTextNode("; ")); box.appendChild(element("span", "struck", now.strike)); }
    box.appendChild(document.createTextNode("."));
  }
  function flags(now, found) {
    var p = found.point, list = [];
    if (!found.met) list.push(["bad", "\u2715", "No candidate meets this; the star is the nearest."]);
    var bound = 0; // what an easier limit takes, this one takes too
    bounds(now).forEach(function (share, i) {
      if (share !== null && sign * data.bound_limits[i] <= sign * now.limit) bound = Math.max(bound, share);
    });
    if (bound > now.budget) list.push(["bad", "\u2715", "Impossible for any method: it takes at least " + (100 * bound).toFixed(1) + " % of decisions."]);
    if (p.promoted_outcome && p.left_outcome && p.promoted_outcome[1] < p.left_outcome[0]) list.push(["warn", "!", "The newly approved " + (data.observed ? "have" : "are expected to have") + " worse outcomes than those still declined."]);
    var telling = data.protected_lines.filter(function (line) { return line !== now.strike; });
    if (telling.length === 1) list.push(["warn", "!", "\u201c" + telling[0] + "\u201d uses a protected column, or a proxy for the group."]);
    if (telling.length > 1) list.push(["warn", "!", telling.length + " lines use protected columns, or proxies for the group: see the list at the top."]);
    if (!list.length) list.push(["good", "\u2713", "No warning applies."]);
    return list;
  }
  function draw() {
    var now = state(), found = choose(now), p = found.point;
    by("o-limit").textContent = now.limit.toFixed(2);
    by("o-budget").textContent = now.all ? "any" : (100 * now.budget).toFixed(1) + " %";
    drawPlot(now, found); drawFlow(now, found);
    by("f-sentence").textContent = (found.met ? found.as || "" : "Nearest: ") + percent(p.changed) + " of decisions change; " + data.words + " " + digits(fairness(p, now.feature)) + (data.observed ? ", accuracy " : ", expected accuracy ") + digits(p.accuracy) + ".";
    by("f-outcome").textContent = p.promoted_outcome && p.left_outcome ? (data.observed ? "With the good outcome: " : "Expected to have the good outcome, by the score alone: ") + percent(p.promoted_outcome) + " of the promoted, " + percent(p.left_outcome) + " of those left denied." : "Too few are promoted to show their outcomes.";
    var list = by("f-flags");
    list.textContent = "";
    flags(now, found).forEach(function (flag) {
      var item = element("li", flag[0]), icon = element("i", "", flag[1]);
      icon.setAttribute("aria-hidden", "true");
      item.appendChild(icon); item.appendChild(element("div", "", flag[2])); list.appendChild(item);
    });
    drawCard(now, p);
    if (by("f-price")) by("f-price").textContent = p.points_needed === null ? "turned off" : p.points_needed + " points";
    by("command").hidden = true;
  }
  function command() {
    var now = state(), name = data.metric === "p_rule" ? " --p-rule " + now.limit : " --target " + data.metric + "=" + now.limit;
    if (now.strike) return "fairpatch edit RUN --strike " + quoted(now.strike) + " --data NEW_ROWS    # the card without that line, at the points it then needs";
    return "fairpatch fit --config RUN/config.yaml" + name +
      (now.all ? "" : " --max-changes " + now.budget.toFixed(3)) +
      (now.direction === "both" ? "" : " --direction " + now.direction) +
      (now.price === 1 ? "" : " --target price_per_change=" + now.price) +
      (now.feature < 0 || data.features.length === 1 ? "" : " --sensitive " + quoted(data.features[now.feature].name)) + " --out RUN-2";
  }
  by("freeze").addEventListener("click", function () {
    var box = by("command");
    box.textContent = "# " + by("f-sentence").textContent + "\n" + command();
    box.hidden = false;
  });
  var nearest = 0;
  data.limits.forEach(function (limit, i) {
    if (Math.abs(limit - data.limit) < Math.abs(data.limits[nearest] - data.limit)) nearest = i;
  });
  by("x-limit").value = nearest;
  if (data.max_changes !== null) {
    by("x-budget").value = Math.min(99, Math.floor(100 * data.max_changes / most));
    budget = by("x-budget").value;
  }
  document.querySelectorAll("#controls input, #controls select").forEach(function (control) { control.addEventListener("input", function () { moved = true; draw(); }); });
  ["controls", "found", "f-flags"].forEach(function (id) { by(id).hidden = false; });
  draw();
})();
