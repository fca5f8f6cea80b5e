// Points in time as a person gives them: a date and time, or how long ago.

const UNITS_MS: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const AGO = /^(\d{1,6})([smhdw])$/;
const DATE_TIME =
  /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** How long `15m` or `3d` is; undefined when the text says nothing like it. */
export function durationMs(text: string): number | undefined {
  const [, count = '', unit = ''] = AGO.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** RFC 3339, a date alone (its start in UTC), or a duration before now. */
export function momentMs(text: string, nowMs: number): number | undefined {
  const agoMs = durationMs(text);
  if (agoMs !== undefined) return nowMs - agoMs;
  if (!DATE_TIME.test(text)) return undefined;
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  // Days that do not exist would otherwise roll over into the next month.
  if (new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day) return undefined;
  const ms = Date.parse(text.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(ms) ? undefined : ms;
}
