/** A number with a fixed count of decimals and a minus sign; – where there is none. */
export const fixed = (v, decimals) => (Number.isFinite(v) ? v.toFixed(decimals).replace(/^-(?=[0.]*$)/, "").replace("-", "−") : "–");

/** Decimals that show two digits of a width. */
export const decimals = (width) => (width > 0 ? Math.min(Math.max(1 - Math.floor(Math.log10(width)), 0), 9) : 3);

/** A share as per cent; – where it is not known. */
export const percent = (v) => (v >= 0 ? `${fixed(100 * v, 1)} %` : "–");

/** A duration, s. */
export function duration(s) {
  if (!(s >= 0)) return "–";
  if (s === 0) return "0 s";
  if (s < 0.001) return `${fixed(1e6 * s, 0)} µs`;
  if (s < 1) return `${fixed(1000 * s, s < 0.0095 ? 1 : 0)} ms`;
  if (s < 120) return `${fixed(s, s < 10 ? 1 : 0)} s`;
  if (s < 7200) return `${fixed(s / 60, 0)} min`;
  return s < 172800 ? `${fixed(s / 3600, 0)} h` : `${fixed(s / 86400, 0)} d`;
}

/** An element with a class and children; strings become text. */
export function element(tag, cls, ...children) {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  e.append(...children);
  return e;
}

/** Sets the text of an element, where it has changed. */
export function put(e, s) {
  if (e.textContent !== s) e.textContent = s;
}

/** Makes the rows of a table body those given, each an array of texts; only what changed is touched. */
export function rows(body, all, cls = () => "") {
  while (body.rows.length > all.length) body.deleteRow(-1);
  all.forEach((cells, i) => {
    const row = body.rows[i] ?? body.insertRow();
    while (row.cells.length > cells.length) row.deleteCell(-1);
    cells.forEach((s, j) => {
      const cell = row.cells[j] ?? row.insertCell();
      put(cell, s);
      const c = cls(i, j);
      if (cell.className !== c) cell.className = c;
      if (cell.title !== s) cell.title = s;
    });
  });
}
