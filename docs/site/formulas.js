// Shows formulas, where KaTeX came with the site.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof renderMathInElement === "undefined") return;
  const delimiters = [
    { left: "\\(", right: "\\)", display: false },
    { left: "\\[", right: "\\]", display: true },
  ];
  for (const formula of document.querySelectorAll(".arithmatex")) renderMathInElement(formula, { delimiters });
});
