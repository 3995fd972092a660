// The script of a report's page: draws the plots with uPlot, links their time axes, and moves them to the time
// of a table's row. Tests and the console reach it as window.taktReport.
"use strict";
(() => {
  const page = JSON.parse(document.getElementById("takt-data").textContent);
  const root = document.documentElement;
  const whole = {min: 0, max: page.duration > 0 ? page.duration : 1};
  const charts = [];  // {plot, overTime}
  let range = whole;
  let resting = 0;  // the timer after the last change of the range
  let marked = null;  // the time of the row that was chosen last

  // ---- colours ----
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const themes = ["auto", "light", "dark"];
  let theme = "auto";
  let colours = {};
  const applyTheme = name => {
    root.dataset.theme = name === "auto" ? (dark.matches ? "dark" : "light") : name;
    const style = getComputedStyle(root);
    for (const key of ["paper", "ink", "soft", "rule", "shade", "blue", "red"]) colours[key] = style.getPropertyValue("--" + key).trim();
    for (const {plot} of charts) plot.redraw(false, true);
  };
  const chooseTheme = name => {
    theme = name;
    themeButton.textContent = "Colours: " + name;
    applyTheme(name);
    try { localStorage.setItem("takt-report-theme", name); } catch { /* a page from a file may have no storage */ }
  };

  // ---- numbers ----
  const numbers = (text, Type) => {
    const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    return Array.from(new Type(bytes.buffer), value => Number.isFinite(value) ? value : null);
  };
  const axes = page.axes.map(text => numbers(text, Float64Array));
  const tableOf = table => [axes[table.x], ...table.series.map(one => numbers(one.values, Float32Array))];
  const short = value => value == null ? "–" : String(Number(value.toPrecision(5)));

  // ---- the common time axis ----
  const isSeen = ({plot}) => {
    const box = plot.root.getBoundingClientRect();
    return box.bottom > -200 && box.top < innerHeight + 200;
  };
  const follow = chart => {
    const {min, max} = chart.plot.scales.x;
    if (chart.overTime && (min !== range.min || max !== range.max)) chart.plot.setScale("x", range);
  };
  const thinnedText = () => {
    const seen = page.thinned.filter(part => part.begin < range.max && part.end > range.min);
    if (seen.length === 0) return ", with every sample of the joints";
    return `; above the grey bars: the lowest and the highest of each ${Math.max(...seen.map(part => part.samples))} samples`;
  };
  const setRange = (min, max) => {
    if (!(max > min)) return;
    const span = Math.min(Math.max(max - min, 1e-4), whole.max);
    const begin = Math.min(Math.max(min, 0), whole.max - span);
    range = {min: begin, max: begin + span};
    rangeText.textContent = `${short(range.min)} s to ${short(range.max)} s${thinnedText()}`;
    // Plots out of sight follow when the range rests.
    charts.filter(isSeen).forEach(follow);
    clearTimeout(resting);
    resting = setTimeout(() => charts.forEach(follow), 100);
  };
  const scaleBy = (factor, at = (range.min + range.max) / 2) =>
    setRange(at - (at - range.min) * factor, at + (range.max - at) * factor);
  const moveBy = share => setRange(range.min + share * (range.max - range.min), range.max + share * (range.max - range.min));
  const goTo = (begin, end = begin) => {
    marked = begin;
    const span = Math.max(2, 1.5 * (end - begin));
    setRange((begin + end - span) / 2, (begin + end + span) / 2);
    charts.forEach(({plot}) => plot.redraw(false));
  };

  // ---- one plot ----
  const drawBelow = u => {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colours.shade;
    page.sections.forEach((section, number) => {
      const left = u.valToPos(section.begin, "x", true);
      if (number % 2 === 0) ctx.fillRect(left, bbox.top, u.valToPos(section.end, "x", true) - left, bbox.height);
    });
    ctx.restore();
  };
  const drawLine = (u, x0, y0, x1, y1, colour, dash) => {
    u.ctx.save();
    u.ctx.strokeStyle = colour;
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.setLineDash(dash.map(length => length * devicePixelRatio));
    u.ctx.beginPath();
    u.ctx.moveTo(x0, y0);
    u.ctx.lineTo(x1, y1);
    u.ctx.stroke();
    u.ctx.restore();
  };
  // Grey bars at the bottom: there, the curves are thinned.
  const drawThinned = parts => u => {
    const {left, top, width, height} = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    u.ctx.fillStyle = colours.soft;
    const thick = 4 * devicePixelRatio;
    for (const part of parts) {
      const from = u.valToPos(part.begin, "x", true);
      u.ctx.fillRect(from, top + height - thick, Math.max(1, u.valToPos(part.end, "x", true) - from), thick);
    }
    u.ctx.restore();
  };
  const drawAbove = limits => u => {
    const {left, top, width, height} = u.bbox;
    for (const limit of limits) {
      if (limit < u.scales.y.min || limit > u.scales.y.max) continue;
      const y = u.valToPos(limit, "y", true);
      drawLine(u, left, y, left + width, y, colours.red, [6, 4]);
    }
    if (marked === null || marked < u.scales.x.min || marked > u.scales.x.max) return;
    const x = u.valToPos(marked, "x", true);
    drawLine(u, x, top, x, top + height, colours.red, []);
  };
  const axis = (label, more = {}) => ({
    stroke: () => colours.soft, label, labelSize: 20, labelFont: "12px system-ui, sans-serif", font: "11px system-ui, sans-serif",
    grid: {stroke: () => colours.rule, width: 1}, ticks: {stroke: () => colours.rule, width: 1, size: 5}, ...more,
  });
  const startPan = (u, event) => {
    const from = event.clientX;
    const {min, max} = range;
    const perPixel = (max - min) / u.over.clientWidth;
    const move = now => setRange(min - (now.clientX - from) * perPixel, max - (now.clientX - from) * perPixel);
    const stop = () => { removeEventListener("mousemove", move); removeEventListener("mouseup", stop); };
    addEventListener("mousemove", move);
    addEventListener("mouseup", stop);
  };
  const timeOptions = {
    cursor: {
      drag: {x: true, y: false},
      sync: {key: "takt", setSeries: false, filters: {pub: type => type === "mousemove" || type === "mouseleave"}},
      bind: {
        mousedown: (u, target, handler) => event => { event.shiftKey ? startPan(u, event) : handler(event); },
        dblclick: () => () => { setRange(whole.min, whole.max); },
      },
    },
  };
  const zoomByWheel = u => u.over.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scaleBy(event.deltaY > 0 ? 1.25 : 0.8, u.posToVal(event.offsetX, "x"));
  }, {passive: false});

  const addChart = (host, overTime, options, data) => {
    const width = () => Math.max(host.clientWidth, 200);
    const chart = {plot: new uPlot({width: width(), ...options}, data, host), overTime};
    charts.push(chart);
    new ResizeObserver(() => {
      if (chart.plot.width !== width()) chart.plot.setSize({width: width(), height: options.height});
    }).observe(host);
    if (overTime) zoomByWheel(chart.plot);
  };
  // A zoom of one plot by the mouse becomes the range of all.
  const followed = u => {
    const {min, max} = u.scales.x;
    if (u.status === 1 && (min !== range.min || max !== range.max)) setRange(min, max);
  };

  const addTime = (host, panel, last, thinned) => {
    const series = panel.tables.flatMap(table => table.series);
    addChart(host, true, {
      ...timeOptions, height: last ? 190 : 150,
      scales: {x: {time: false, range: (u, min, max) => [min, max]}},
      axes: [axis(last ? "time (s)" : null, {size: last ? 34 : 22}), axis(panel.label, {size: 52})],
      series: [{label: "time (s)", value: (u, value) => short(value)}, ...series.map(one => ({
        label: one.label, stroke: one.colour, width: one.width, points: {show: false}, value: (u, value) => short(value),
      }))],
      hooks: {drawClear: [drawBelow], draw: [drawThinned(thinned), drawAbove(panel.limits)], setScale: [(u, key) => { if (key === "x") followed(u); }]},
    }, panel.tables.length > 1 ? uPlot.join(panel.tables.map(tableOf)) : tableOf(panel.tables[0]));
  };

  const addHistogram = (host, panel) => {
    const powers = (u, splits) => splits.map(value => Math.abs(Math.log10(value) % 1) < 1e-9 ? short(value) : "");
    addChart(host, false, {
      height: 300, scales: {x: {time: false, distr: 3}, y: {distr: 3, range: (u, min, max) => [0.7, Math.max(2, max * 1.5)]}},
      cursor: {drag: {x: true, y: false}},
      axes: [axis(panel.label, {size: 34, values: powers}), axis("cycles", {size: 52, values: powers})],
      series: [{label: panel.label, value: (u, value) => short(value)}, ...panel.tables[0].series.map(one => ({
        label: one.label, stroke: one.colour, fill: one.colour, points: {show: false}, value: (u, value) => short(value),
        paths: uPlot.paths.bars({size: [0.95, Infinity, 2]}),
      }))],
    }, tableOf(panel.tables[0]));
  };

  // Goals that overlap lie in lanes of their own.
  const lanesOf = goals => {
    const ends = [];
    const lanes = goals.map(goal => {
      let lane = ends.findIndex(end => end < goal.begin);
      if (lane < 0) lane = ends.length;
      ends[lane] = goal.end;
      return lane;
    });
    return {lanes, count: Math.max(1, ends.length)};
  };
  // The robot's states have the lowest lane, below the goals.
  const addGoals = host => {
    const {lanes, count: goalLanes} = lanesOf(page.goals);
    const hasStates = page.states.length > 0;
    const count = (page.goals.length > 0 ? goalLanes : 0) + (hasStates ? 1 : 0);
    const bars = [...page.goals.map((goal, number) => ({...goal, lane: lanes[number], colour: goal.failed ? "red" : "blue"})),
      ...page.states.map((state, number) => ({...state, lane: count - 1, colour: state.stop ? "red" : number % 2 ? "soft" : "ink"}))];
    const draw = u => {
      const {ctx, bbox} = u;
      const height = bbox.height / count;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      bars.forEach(bar => {
        const left = u.valToPos(bar.begin, "x", true);
        const width = Math.max(3, u.valToPos(bar.end, "x", true) - left);
        const top = bbox.top + bar.lane * height;
        ctx.fillStyle = colours[bar.colour];
        ctx.fillRect(left, top + 1, width, Math.max(2, height - 2));
        const seen = Math.max(left, bbox.left) + 4;
        if (height < 13 * devicePixelRatio || ctx.measureText(bar.label).width > left + width - seen) return;
        ctx.fillStyle = colours.paper;
        ctx.fillText(bar.label, seen, top + height / 2);
      });
      page.states.filter(state => state.stop).forEach(state => {
        const x = u.valToPos(state.begin, "x", true);
        drawLine(u, x, bbox.top, x, bbox.top + bbox.height, colours.red, [4, 3]);
      });
      ctx.restore();
      drawAbove([])(u);
    };
    addChart(host, true, {
      ...timeOptions, height: Math.min(60 + 24 * count, 320),
      scales: {x: {time: false, range: (u, min, max) => [min, max]}, y: {range: [0, 1]}},
      axes: [axis("time (s)", {size: 34}), axis(null, {size: 72, values: () => []})],
      series: [{label: "time (s)", value: (u, value) => short(value)}, {show: false, label: "goals"}],
      legend: {show: false},
      hooks: {drawClear: [drawBelow], draw: [draw], setScale: [(u, key) => { if (key === "x") followed(u); }]},
    }, [[whole.min, whole.max], [null, null]]);
  };

  // ---- the page ----
  const button = (text, title, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = title;
    made.addEventListener("click", act);
    return made;
  };
  const bar = document.createElement("div");
  const rangeText = document.createElement("output");
  const themeButton = button("", "Automatic, light or dark", () => chooseTheme(themes[(themes.indexOf(theme) + 1) % themes.length]));
  themeButton.id = "takt-theme";
  bar.className = "bar";
  bar.append(button("◀", "Earlier", () => moveBy(-0.5)), button("−", "Longer", () => scaleBy(2)), button("+", "Shorter", () => scaleBy(0.5)),
    button("▶", "Later", () => moveBy(0.5)), button("Whole", "The whole recording (double click in a plot)", () => setRange(whole.min, whole.max)),
    rangeText, themeButton);
  document.querySelector("main").prepend(bar);

  applyTheme("auto");
  for (const place of document.querySelectorAll("[data-plot]")) {
    const figure = page.figures[place.dataset.plot];
    if (figure.kind === "goals") addGoals(place);
    else figure.panels.forEach((panel, number) => {
      if (figure.kind === "time") addTime(place, panel, number === figure.panels.length - 1, figure.thinned ?? page.thinned);
      else addHistogram(place, panel);
    });
  }
  setRange(whole.min, whole.max);

  const choose = row => {
    const {time, until, joint} = row.dataset;
    goTo(Number(time), Number(until ?? time));
    document.querySelectorAll(".chosen").forEach(other => other.classList.remove("chosen"));
    row.classList.add("chosen");
    const places = [...document.querySelectorAll("[data-plot]")];
    const wanted = joint && places.find(place => place.dataset.plot === joint);
    const first = wanted || (charts.some(chart => chart.overTime && isSeen(chart)) ? null : charts.find(chart => chart.overTime)?.plot.root);
    if (first) first.scrollIntoView({block: "center"});
  };
  for (const row of document.querySelectorAll("[data-time]")) {
    row.tabIndex = 0;
    row.title = "Move all plots to this time";
    row.addEventListener("click", () => choose(row));
    row.addEventListener("keydown", event => { if (event.key === "Enter") choose(row); });
  }

  let stored = null;
  try { stored = localStorage.getItem("takt-report-theme"); } catch { /* likewise */ }
  chooseTheme(themes.includes(stored) ? stored : "auto");
  dark.addEventListener("change", () => applyTheme(theme));
  let opened = [];  // for the printer
  addEventListener("beforeprint", () => {
    charts.forEach(follow);
    applyTheme("light");
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach(one => { one.open = true; });
  });
  addEventListener("afterprint", () => {
    applyTheme(theme);
    opened.forEach(one => { one.open = false; });
  });
  window.taktReport = {charts, goTo, setRange, chooseTheme, range: () => range, marked: () => marked};
})();
