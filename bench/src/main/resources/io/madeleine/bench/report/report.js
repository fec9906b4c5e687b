'use strict';
(() => {
  const root = document.documentElement;
  const theme = document.getElementById('theme');
  theme.hidden = false;
  theme.addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });

  // The legend: pressing hides a subject, pointing at it dims the others.
  const named = name => [...document.querySelectorAll('.series, .label, .bar')].filter(e => !name || e.dataset.name === name);
  for (const button of document.querySelectorAll('.legend button')) {
    const name = button.dataset.name;
    button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      named(name).forEach(e => e.classList.toggle('off', !on));
    });
    const dim = on => named().forEach(e => e.classList.toggle('dim', on && e.dataset.name !== name));
    button.addEventListener('pointerenter', e => e.pointerType === 'mouse' && dim(true));
    button.addEventListener('pointerleave', () => dim(false));
  }

  // Hover: everybody's value at the size nearest to the pointer, the best first.
  const tip = document.body.appendChild(document.createElement('div'));
  tip.id = 'tip';
  tip.hidden = true;
  const cell = (row, text) => { row.insertCell().textContent = text; };
  for (const chart of document.querySelectorAll('.chart')) {
    const circles = [...chart.querySelectorAll('circle')];
    const rule = chart.querySelector('.rule');
    const sizes = chart.closest('.panel').dataset.sizes.split('|');
    const leave = () => { tip.hidden = true; rule.style.opacity = 0; };
    chart.addEventListener('pointerleave', leave);
    chart.addEventListener('pointermove', event => {
      const shown = circles.filter(c => !c.parentNode.classList.contains('off'));
      if (!shown.length) return leave();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse()).x;
      const gap = c => Math.abs(c.cx.baseVal.value - at);
      const nearest = shown.reduce((a, b) => gap(b) < gap(a) ? b : a);
      const here = shown.filter(c => c.dataset.i === nearest.dataset.i);
      here.sort((a, b) => a.cy.baseVal.value - b.cy.baseVal.value);
      rule.setAttribute('transform', 'translate(' + nearest.cx.baseVal.value + ')');
      rule.style.opacity = 1;
      tip.replaceChildren(document.createTextNode(sizes[nearest.dataset.i]), document.createElement('table'));
      for (const c of here) {
        const row = tip.lastChild.insertRow();
        row.className = c.parentNode.getAttribute('class').replace('series', '');
        cell(row, c.parentNode.dataset.name);
        cell(row, c.dataset.v + (c.classList.contains('noisy') ? ' ~' : ''));
        cell(row, c.dataset.s);
      }
      tip.hidden = false;
      const room = root.clientWidth - tip.offsetWidth - 8;
      const right = event.clientX + 18;
      tip.style.left = scrollX + Math.max(8, right > room ? Math.min(room, event.clientX - tip.offsetWidth - 18) : right) + 'px';
      tip.style.top = scrollY + Math.max(8, Math.min(event.clientY - tip.offsetHeight / 2, innerHeight - tip.offsetHeight - 8)) + 'px';
    });
  }
  root.dataset.ready = 'yes';
})();
