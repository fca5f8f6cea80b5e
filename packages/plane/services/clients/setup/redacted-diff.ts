// A change of a config for people to look at: a diff that shows no value but those that change.
import type { Format, ReadConfig, ServerEntry } from '../index.ts';
import { unifiedDiff } from '../text/diff.ts';
import { readDocument } from '../text/document.ts';
import { masked, type Range } from './masked.ts';
import { entryKey } from './server-state.ts';

interface Shown {
  readonly before: ReadConfig;
  readonly after: ReadConfig;
  readonly redact: (text: string) => string;
}

export function redactedDiff({ before, after, redact }: Shown): string {
  const { path } = before.file;
  const touched = touchedIn(before, after);
  const names = new Set([...before.entries, ...after.entries].map(({ name }) => name));
  const known = new Map<string, string>();
  const mask = ({ text, file, entries }: ReadConfig): string =>
    masked(text, {
      format: file.format,
      names,
      redact,
      known,
      shown: rangesOf(
        { text, format: file.format },
        entries.filter((entry) => touched.has(entryKey(entry))),
      ),
    });
  return unifiedDiff({ before: mask(before), after: mask(after), name: path.replace(/^\//, '') });
}

/** The entries that start something else than before. */
function touchedIn(before: ReadConfig, after: ReadConfig): ReadonlySet<string> {
  const started = (entry: ServerEntry) => JSON.stringify([entry.command, entry.args ?? null]);
  const old = new Map(before.entries.map((entry) => [entryKey(entry), started(entry)]));
  const changed = after.entries.filter((entry) => old.get(entryKey(entry)) !== started(entry));
  return new Set(changed.map(entryKey));
}

function rangesOf(
  { text, format }: { readonly text: string; readonly format: Format },
  entries: readonly ServerEntry[],
): readonly Range[] {
  const paths = entries.flatMap(({ at }) => [at.command, at.args]);
  const read = readDocument(text, format, paths);
  // Then nothing is shown at all.
  if (read.kind === 'broken') return [];
  const { document } = read;
  const spans = paths.map((path) => document.spanAt(path));
  return spans
    .filter((span) => span !== undefined)
    .toSorted((left, right) => left.start - right.start);
}
