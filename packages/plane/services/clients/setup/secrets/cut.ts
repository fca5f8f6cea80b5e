// Takes values out of a config so that they can be put back to the last byte.
// Pure: a text in, a text out, and checked by reading it.
import { isObject } from '@subluminal/contracts';
import type { Format, ValuePath } from '../../index.ts';
import { readDocument } from '../../text/document.ts';
import { sameData } from '../../text/plain-data.ts';
import { type CutAll, type Cutting, cutOnce, documentOf, type Target } from './cut-plan.ts';
import { uncutAll } from './written.ts';

/** All values at once: each look at a config takes its time, and configs can be large. */
export function cutAll<T extends Target>(text: string, cutting: Cutting<T>): CutAll<T> {
  const all = cutOnce(text, cutting);
  if (all !== undefined && isRight(text, cutting, all)) return all;
  // One of them is the reason: each by itself.
  let done: CutAll<T> = { text, cuts: [], left: [] };
  for (const target of cutting.targets) {
    const one = { ...cutting, targets: [target] };
    const out = cutOnce(done.text, one);
    done =
      out !== undefined && isRight(done.text, one, out)
        ? { text: out.text, cuts: [...done.cuts, ...out.cuts], left: [...done.left, ...out.left] }
        : { ...done, left: [...done.left, target] };
  }
  return done;
}

/** Nothing but the values may be gone, and they must come back to the byte. */
function isRight<T extends Target>(
  text: string,
  { format, targets }: Cutting<T>,
  { text: next, cuts }: CutAll<T>,
): boolean {
  const [before, after] = [text, next].map((one) => documentOf(one, { format, targets }));
  if (before === undefined || after === undefined) return false;
  const paths = cuts.map(({ target }) => target.path);
  if (!isSameBut(before.value, after.value, paths)) return false;
  const back = uncutAll(
    next,
    cuts.map(({ target: { value }, cut }) => ({ value, cut })),
    format,
  );
  return back === text;
}

/** Whether two texts say the same but for these values, which stand in the first one alone. */
function isSameBut(full: unknown, cut: unknown, paths: readonly ValuePath[]): boolean {
  const rest = paths.reduce<unknown>(withoutValue, full);
  return sameData(
    paths.reduce<unknown>(withoutEmpty, cut),
    paths.reduce<unknown>(withoutEmpty, rest),
  );
}

/** Whether the second text is the first one with these values in it, and nothing else. */
export function isFilled(
  [cut, full]: readonly [string, string],
  format: Format,
  values: readonly Target[],
): boolean {
  const paths = values.map(({ path }) => path);
  const [before, after] = [cut, full].map((one) => readDocument(one, format, paths));
  if (before?.kind !== 'document' || after?.kind !== 'document') return false;
  const { document } = after;
  return (
    values.every(({ path, value }) => document.valueAt(path) === value) &&
    isSameBut(document.value, before.document.value, paths)
  );
}

/** A copy that lacks one value. */
export function withoutValue(holder: unknown, [key, ...rest]: ValuePath): unknown {
  if (key === undefined || typeof holder !== 'object' || holder === null) return holder;
  if (Array.isArray(holder)) return holder;
  const entries = Object.entries(holder);
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([name]) => name !== key)
      : entries.map(([name, one]) => [name, name === key ? withoutValue(one, rest) : one]),
  );
}

/** An environment without variables says what none says. */
export function withoutEmpty(value: unknown, path: ValuePath): unknown {
  const env = path.slice(0, -1);
  const held = env.reduce<unknown>(
    (holder, key) => (isObject(holder) ? holder[String(key)] : undefined),
    value,
  );
  return isObject(held) && Object.keys(held).length === 0 ? withoutValue(value, env) : value;
}
