// Everything here adds to a page that is complete without it.
(() => {
  "use strict";

  // Sorting: each heading becomes a button for ascending, descending, and the order as it was.
  const next = { none: "ascending", ascending: "descending", descending: "none" };

  function sorted(rows, column, direction) {
    if (direction === "none") return rows;
    const sign = direction === "ascending" ? 1 : -1;
    const numbers = rows.some((row) => row.cells[column].hasAttribute("data-sort"));
    const key = (row) => numbers ? row.cells[column].dataset.sort : row.cells[column].textContent.trim();
    const compare = (a, b) => numbers ? key(a) - key(b) : key(a).localeCompare(key(b), "en", { numeric: true });
    const absent = (row) => !key(row) || key(row).startsWith("–");
    const present = rows.filter((row) => !absent(row)).sort((a, b) => sign * compare(a, b));
    return present.concat(rows.filter(absent));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      if (head.tagName !== "TH") return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const direction = next[head.getAttribute("aria-sort") || "none"];
        for (const other of heads) other.removeAttribute("aria-sort");
        if (direction !== "none") head.setAttribute("aria-sort", direction);
        body.append(...sorted(rows, column, direction));
      });
    });
  }

  // Copying, where the browser allows it; otherwise the text is selected.
  function select(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }

  for (const command of document.querySelectorAll("pre.command")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    command.after(button);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = "Copied";
      } catch {
        select(command);
        button.textContent = "Selected: copy it with Ctrl+C";
      }
    });
  }

  // What scrolls can be reached by keyboard; what does not is no stop on the way.
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const region of document.querySelectorAll(".scroll, .sheet")) observer.observe(region);

  // A link into something closed opens it.
  function open(hash) {
    const target = document.getElementById(hash.slice(1));
    let element = target;
    while (element) {
      if (element.tagName === "DETAILS") element.open = true;
      element = element.parentElement;
    }
    if (target) target.scrollIntoView();
  }
  addEventListener("hashchange", () => open(location.hash));
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) open(link.hash);
  });
  if (location.hash) open(location.hash);

  // Paper can't be opened. The points of a workload that has many stay closed, they are dozens of pages, and so
  // do charts and sentences that say what the first table says.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = Array.from(document.querySelectorAll("main details.more:not([open])")).filter((details) => !details.closest("details.point:not([open])"));
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });
})();
