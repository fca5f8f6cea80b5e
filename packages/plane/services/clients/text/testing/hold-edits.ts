// What holds for the edits of every document, whatever its format and style.

import { expect } from 'vitest';
import { type ConfigDocument, readDocument } from '../document.ts';
import { applyEdits, insertAfter, removeValue, replaceValue } from '../edits.ts';
import { sameData } from '../plain-data.ts';
import type { Format, ValuePath } from '../tree.ts';
import type { Server, Styled } from './styled.ts';

interface Case {
  readonly styled: Styled;
  readonly format: Format;
  readonly command: string;
  readonly args: readonly string[];
  /** A reader that isn't ours. */
  readApart(text: string, format: Format): unknown;
}

export function readOrThrow(text: string, format: Format): ConfigDocument {
  const read = readDocument(text, format);
  if (read.kind === 'document') return read.document;
  throw new Error(`broken at ${read.line}:${read.column}: ${read.message}`);
}

export function holdEdits(one: Case): void {
  const { text, paths, servers } = one.styled;
  const document = readOrThrow(text, one.format);
  expectSame(document.value, one.readApart(text, one.format), text);
  for (const [index, path] of paths.entries()) {
    const server = servers[index];
    if (server === undefined) throw new Error('a server for each path');
    holdReading(document, path, server);
    holdReplacing(one, document, [...path, 'command']);
    if (server.args === undefined) holdInserting(one, document, path);
    else holdRemoving(one, document, path);
  }
  holdAll(one, document);
}

function holdReading(document: ConfigDocument, path: ValuePath, server: Server): void {
  expect(document.valueAt([...path, 'command'])).toBe(server.command);
  expect(document.valueAt([...path, 'args'])).toEqual(server.args);
  expect(document.spanAt([...path, 'command'])).toBeDefined();
}

function holdReplacing(one: Case, document: ConfigDocument, path: ValuePath): void {
  const span = document.spanAt(path);
  if (span === undefined) throw new Error('a value has a span');
  const after = edited(one, document.text, replaceValue(document, path, one.command));
  const expected = withValue(document.value, path, one.command);
  expectSame(one.readApart(after.text, one.format), expected, after.text);
  const back = after.spanAt(path);
  if (back === undefined) throw new Error('a value that was written has a span');
  const written = { ...back, text: document.text.slice(span.start, span.end) };
  expect(applyEdits(after.text, [written])).toBe(document.text);
}

function holdInserting(one: Case, document: ConfigDocument, path: ValuePath): void {
  const edit = insertAfter(document, [...path, 'command'], { key: 'args', value: one.args });
  const after = edited(one, document.text, edit);
  const expected = withValue(document.value, [...path, 'args'], one.args);
  expectSame(one.readApart(after.text, one.format), expected, after.text);
  const removed = applyEdits(after.text, [removeValue(after, [...path, 'args'])]);
  expect(removed).toBe(document.text);
}

function holdRemoving(one: Case, document: ConfigDocument, path: ValuePath): void {
  const after = edited(one, document.text, removeValue(document, [...path, 'args']));
  const expected = withValue(document.value, [...path, 'args'], undefined);
  expectSame(one.readApart(after.text, one.format), expected, after.text);
  const other = edited(one, document.text, replaceValue(document, [...path, 'args'], one.args));
  const wanted = withValue(document.value, [...path, 'args'], one.args);
  expectSame(one.readApart(other.text, one.format), wanted, other.text);
}

/** All servers at once, as an import does. */
function holdAll(one: Case, document: ConfigDocument): void {
  let expected = document.value;
  const edits = one.styled.paths.flatMap((path, index) => {
    const at = { command: [...path, 'command'], args: [...path, 'args'] };
    expected = withValue(withValue(expected, at.command, one.command), at.args, one.args);
    const hasArgs = one.styled.servers[index]?.args !== undefined;
    const second = hasArgs
      ? replaceValue(document, at.args, one.args)
      : insertAfter(document, at.command, { key: 'args', value: one.args });
    return [replaceValue(document, at.command, one.command), second];
  });
  const after = applyEdits(document.text, edits);
  expectSame(one.readApart(after, one.format), expected, after);
}

function edited(
  one: Case,
  text: string,
  edit: Parameters<typeof applyEdits>[1][number],
): ConfigDocument {
  return readOrThrow(applyEdits(text, [edit]), one.format);
}

function expectSame(actual: unknown, expected: unknown, text: string): void {
  if (sameData(actual, expected)) return;
  expect({ text, actual }).toEqual({ text, actual: expected });
  throw new Error(`not the same data, for a reason that is hard to show: ${text}`);
}

/** A copy with one value set, or gone when undefined. */
function withValue(holder: unknown, [step, ...rest]: ValuePath, value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(holder)) {
    return holder.map((item: unknown, at) => (at === step ? withValue(item, rest, value) : item));
  }
  if (typeof holder !== 'object' || holder === null) throw new Error('no such value');
  const entries = new Map<string, unknown>(Object.entries(holder));
  const key = String(step);
  const inner = withValue(entries.get(key), rest, value);
  if (inner === undefined) entries.delete(key);
  else entries.set(key, inner);
  return Object.fromEntries(entries);
}
