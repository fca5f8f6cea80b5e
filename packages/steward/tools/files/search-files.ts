// Looks through folders, within bounds, and follows no links. Hidden files are left out: a search must not bring to
// light what nobody would open.
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { quote, visible } from '@subluminal/core/visible';
import { errorAnswer, type OwnAnswer } from '@subluminal/plane/agent-run';
import { attempt, decodeUtf8, nameMatcher } from '@subluminal/plane/os';
import { type FileRoots, readTruePath } from '../../staging/index.ts';

const ENTRIES_MAX = 20_000;
const FILE_BYTES_MAX = 1_048_576;
const TOTAL_BYTES_MAX = 67_108_864;
const MATCHES_MAX = 200;
const LINE_LENGTH_MAX = 300;
const SEARCH_MS = 20_000;

export interface FileSearch {
  readonly text?: string;
  readonly name?: string;
  readonly path: string;
}

interface SearchState {
  readonly matches: string[];
  entries: number;
  bytes: number;
  isCut: boolean;
}

export async function searchFiles(
  roots: FileRoots,
  { text, name, path }: FileSearch,
  signal: AbortSignal,
): Promise<OwnAnswer> {
  if (text === undefined && name === undefined) return errorAnswer('Give a text, a name or both.');
  const found = roots.locate(path);
  if (typeof found === 'string') return errorAnswer(found);
  if (!found.isFolder) return errorAnswer(`${quote(path)} is no folder.`);
  const fits = name === undefined ? () => true : nameMatcher(name);
  const state: SearchState = { matches: [], entries: 0, bytes: 0, isCut: false };
  const ended = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]);
  for await (const file of walk(roots, found.path, state)) {
    if (ended.aborted || state.bytes > TOTAL_BYTES_MAX || state.matches.length >= MATCHES_MAX) {
      state.isCut = true;
      break;
    }
    if (!fits(file.name)) continue;
    if (text === undefined) state.matches.push(visible(file.path, LINE_LENGTH_MAX));
    else addMatches(file.path, text.toLowerCase(), state);
  }
  return answerOf(state);
}

function answerOf({ matches, isCut }: SearchState): OwnAnswer {
  const shown = matches.slice(0, MATCHES_MAX);
  const isWhole = !isCut && shown.length === matches.length;
  const lines = isWhole ? shown : [...shown, '… there may be more: search in a smaller folder'];
  return { text: lines.length === 0 ? 'Nothing was found.' : lines.join('\n') };
}

function addMatches(path: string, wanted: string, state: SearchState): void {
  const read = readTruePath(path, FILE_BYTES_MAX);
  if (read.kind !== 'read') return;
  state.bytes += read.bytes.length;
  const text = read.bytes.includes(0) ? undefined : decodeUtf8(read.bytes);
  if (text === undefined || !text.toLowerCase().includes(wanted)) return;
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.toLowerCase().includes(wanted)) continue;
    state.matches.push(
      `${visible(path, LINE_LENGTH_MAX)}:${index + 1}: ${visible(line, LINE_LENGTH_MAX)}`,
    );
    if (state.matches.length > MATCHES_MAX) return;
  }
}

interface FoundFile {
  readonly name: string;
  readonly path: string;
}

async function* walk(
  roots: FileRoots,
  from: string,
  state: SearchState,
): AsyncGenerator<FoundFile> {
  const waiting = [from];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    await nextTurn();
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.') || !roots.isOpen(path)) continue;
      if (++state.entries > ENTRIES_MAX) {
        state.isCut = true;
        return;
      }
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) yield { name: entry.name, path };
    }
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}
