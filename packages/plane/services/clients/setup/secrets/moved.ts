// Which secrets a config lacks after a change, and how each came out of it.
import type { ConfigProblem, Format, MovedSecret, Rewritten } from '../../index.ts';
import type { Store } from '../../store/ports.ts';
import { problem } from '../../store/problem.ts';
import { isOf, readRecord } from '../../store/record.ts';
import type { ConfigRecord } from '../../store/record-text.ts';
import { readDocument } from '../../text/document.ts';
import { cutAll } from './cut.ts';
import { startDigest } from './same-start.ts';

/** A secret that goes into the store, or is there already. */
export interface Move extends Omit<MovedSecret, 'cut' | 'moved_at'> {
  /** By a function, so that no dump shows it. */
  readonly value: () => string;
}

interface Moving {
  readonly path: string;
  readonly format: Format;
  /** Of the record of the config. */
  readonly key: string;
  readonly store: Store;
  readonly moves: readonly Move[];
  /** Makes the config without its secrets start shims. */
  readonly rewrite: (baseText: string) => Rewritten | ConfigProblem;
}

/** The secrets go first, so that what is kept as the base holds none of them. */
export function movingRewrite(moving: Moving): (baseText: string) => Rewritten | ConfigProblem {
  const { path, format, moves, rewrite, store } = moving;
  return (baseText) => {
    const targets = moves.map(({ value, ...move }) => ({ path: move.path, value: value(), move }));
    const out = cutAll(baseText, { format, targets });
    if (out.left.length > 0) {
      const message = `${path} has changed since its secrets were looked at.`;
      return problem(path, message, 'Try again.');
    }
    const { text } = out;
    const moved_at = store.ports.now().toISOString();
    const read = readDocument(
      text,
      format,
      moves.map((move) => move.path),
    );
    const document = read.kind === 'document' ? read.document : undefined;
    const cuts = out.cuts.map(({ target: { move }, cut }): MovedSecret => {
      const started = startDigest(document, move.path, store.ports.sha256);
      return { ...move, moved_at, ...(started !== undefined && { started }), cut };
    });
    const rewritten = rewrite(text);
    if ('kind' in rewritten) return rewritten;
    const moved = chain(moving, { before: baseText, after: text, cuts });
    return moved.length === 0 ? rewritten : { ...rewritten, base: text, moved };
  };
}

interface Step {
  readonly before: string;
  readonly after: string;
  readonly cuts: readonly MovedSecret[];
}

/** Those that were moved earlier stay known; to the byte, while nobody else has changed the config. */
function chain({ key, store, format }: Moving, step: Step): readonly MovedSecret[] {
  const found = readRecord(key, store.paths);
  const record = found.kind === 'record' ? found.record : undefined;
  const earlier = record?.moved ?? [];
  if (record === undefined || earlier.length === 0) return step.cuts;
  if (isBase(step.before, record, store)) return [...earlier, ...step.cuts];
  // A change that was killed has written its record, and not the config: this is the same one.
  if (isBase(step.after, record, store) && endsWith(earlier, step.cuts)) return earlier;
  const read = readDocument(
    step.before,
    format,
    earlier.map(({ path }) => path),
  );
  const still = earlier
    .filter(({ path }) => read.kind === 'broken' || read.document.valueAt(path) === undefined)
    .map(({ cut: _cut, ...one }) => one);
  return [...still, ...step.cuts];
}

function isBase(text: string, { base }: ConfigRecord, { ports }: Store): boolean {
  return isOf(base, Buffer.from(text), ports.sha256);
}

function endsWith(all: readonly MovedSecret[], last: readonly MovedSecret[]): boolean {
  const wordsOf = (some: readonly MovedSecret[]) =>
    JSON.stringify(some.map(({ moved_at: _when, ...rest }) => rest));
  return wordsOf(all.slice(all.length - last.length)) === wordsOf(last);
}
