// Axes: from numbers to places, and the ticks between.

const roundSteps = [1, 2, 5, 10];
const roundingShare = 1e-11;  // numbers nearer to one another than this are one number

/// A scale from [low, high] to [from, to], linear or logarithmic.
export function makeScale(low, high, from, to, log) {
  const t = log ? Math.log10 : x => x;
  const [a, b] = [t(low), t(high)];
  const place = x => from + (to - from) * (t(x) - a) / (b - a);
  const number = p => { const u = a + (b - a) * (p - from) / (to - from); return log ? 10 ** u : u; };
  return {place, number, low, high, log, ticks: log ? logTicks(low, high) : linearTicks(low, high)};
}

function linearTicks(low, high, wanted = 6) {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * roundSteps.find(s => s * power >= raw * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const within = ticks => ticks.filter(x => x >= low * 0.999 && x <= high * 1.001);
  const stride = Math.max(1, Math.round((last - first) / 6));
  const powers = [];
  for (let k = first; k <= last; k += stride) powers.push(Number(`1e${k}`));
  if (within(powers).length >= 3) return within(powers);
  const fine = [];
  for (let k = first; k <= last; ++k) for (const s of [1, 2, 5]) fine.push(Number(`${s}e${k}`));
  return within(fine).length >= 2 ? within(fine) : linearTicks(low, high, 4);
}

/// The range of finite numbers (positive ones if log), a little wider; [0, 1] of none.
export function range(numbers, log) {
  const fit = numbers.filter(x => Number.isFinite(x) && (!log || x > 0));
  if (fit.length === 0) return log ? [0.1, 1] : [0, 1];
  let low = fit[0], high = fit[0];
  for (const x of fit) { low = Math.min(low, x); high = Math.max(high, x); }
  if (high - low <= roundingShare * Math.max(Math.abs(low), Math.abs(high))) {
    const width = Math.abs(low) || 1;
    return log ? [low / 2, high * 2] : [low - width / 2, high + width / 2];
  }
  if (log) { const f = (high / low) ** 0.03; return [low / f, high * f]; }
  const pad = 0.03 * (high - low);
  return [low - pad, high + pad];
}
