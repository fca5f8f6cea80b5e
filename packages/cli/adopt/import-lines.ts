// What `sub import` prints about one file, and about what became of it.
import { shellWord } from '@subluminal/core/visible';
import type { ImportFile, ImportOptions, ServerView } from '@subluminal/plane/clients/setup';
import type { Io } from '../terminal/io.ts';
import { harmless, plural } from '../terminal/text.ts';
import { diffLines, printLines, serverLines, stateWords } from './lines.ts';
import { secretLines } from './move-secrets.ts';

export function printFile(file: ImportFile, io: Io): void {
  const [chosen, updated] = [new Set(file.chosen), new Set(file.updated)];
  const wordsOf = (server: ServerView) => {
    const { state, name } = server;
    if (state === 'loose' && chosen.has(name)) {
      return `to be governed, in place of a shim with ${(server.loose ?? []).join(', ')}`;
    }
    if ((state === 'open' || server.obstacle !== undefined) && chosen.has(name)) {
      return 'to be governed';
    }
    const words = stateWords(server);
    return state === 'governed' && updated.has(name) ? `${words}, to be started otherwise` : words;
  };
  const lines = serverLines(file.servers, wordsOf, io.out);
  const head = io.out.colors.bold(harmless(`${file.client.title}: ${file.path}`));
  const none = lines.length === 0 ? ['  no servers'] : lines;
  printLines([head, ...none, ...secretLines(file), ...diffLines(file.diff, io.out)], io.out);
}

export function doneText(
  files: readonly ImportFile[],
  { id, title }: ImportFile['client'],
  { configPath }: ImportOptions,
): string {
  const count = (name: 'chosen' | 'updated' | 'moves') =>
    files.reduce((sum, file) => sum + file[name].length, 0);
  const [governed, updated, moved] = [count('chosen'), count('updated'), count('moves')];
  const parts = [
    governed > 0 && `${plural(governed, 'server')} of ${title} ${isOrAre(governed)} governed`,
    updated > 0 && `${plural(updated, 'governed server')} ${isOrAre(updated)} brought up to date`,
    moved > 0 && `${plural(moved, 'secret')} ${moved === 1 ? 'comes' : 'come'} from the store`,
  ].filter((part) => part !== false);
  const path = configPath === undefined ? '' : ` --config-path ${shellWord(configPath)}`;
  return `Done: ${parts.join(', ')} from the next start on. Undo it with: sub restore ${id}${path}`;
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are';
}
