// Puts the configs of clients back, and prints what comes back and what does not.
import { type Failure, isFailure } from '@subluminal/contracts';
import { applyRestore, type RestoreFile } from '@subluminal/plane/clients/setup';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless } from '../terminal/text.ts';
import { diffLines, printLines, tellProblems } from './lines.ts';

interface RestoredFiles {
  readonly restored: ReadonlySet<RestoreFile>;
  readonly problems: readonly Failure[];
  /** Whether the home holds the only copy of something that a config had. */
  readonly isIncomplete: boolean;
}

/** A file that cannot be put back stops no other. */
export async function restoreFiles(files: readonly RestoreFile[], io: Io): Promise<RestoredFiles> {
  const restored = new Set<RestoreFile>();
  const problems: Failure[] = [];
  let isIncomplete = false;
  for (const file of files) {
    const result = await applyRestore(file);
    if (isFailure(result)) {
      tellProblems([result], io);
      problems.push(result);
      continue;
    }
    const { isBack, replaced, lost, stays } = result;
    if (isBack) restored.add(file);
    isIncomplete ||= !isBack || lost !== undefined;
    isIncomplete ||= file.withheld.length + file.stored.length > 0;
    const kept = replaced && `${file.path} as it was until now is kept in ${replaced}.`;
    for (const words of [kept, lost, stays]) if (words !== undefined) warn(io, words);
  }
  return { restored, problems, isIncomplete };
}

const HOW: { readonly [how in RestoreFile['how']]: string } = {
  same: 'back to what it was, byte for byte',
  merged: 'changed by another program since: our changes come out, everything else stays',
  unrecorded: 'no record of the change is left: what stands behind `--` becomes the command again',
};

const ROTATED = 'back to what it was, but for secrets that have a newer value';

export function printRestore(file: RestoreFile, io: Io): void {
  const { client, path, how, left, missing, secrets, stored, withheld, rotated, diff } = file;
  const which = file.hasHooks ? ', hooks' : '';
  const head = io.out.colors.bold(harmless(`${client.title}${which}: ${path}`));
  const notes: readonly (readonly [names: readonly string[], words: string])[] = [
    [left, 'left as they are, because others have changed them'],
    [missing, 'not there any more, so they cannot come back'],
    [secrets, 'back in plain text, out of the store, which keeps its copies'],
    [rotated, 'with the newer value that the store has'],
    [stored, 'only in the store from now on, because their servers are gone'],
  ];
  const lines = [
    how === 'same' && rotated.length > 0 ? ROTATED : HOW[how],
    ...notes.flatMap(([names, words]) =>
      names.length === 0 ? [] : [`${words}: ${names.join(', ')}`],
    ),
    ...withheld.map(({ server, variable, secret }) => {
      const why = 'because its command is not the one that the secret was moved from';
      const fix = `If that is yours, add it by hand: \`sub secrets get ${secret}\` prints it.`;
      return `${server} is left without ${variable}, ${why}. ${fix}`;
    }),
  ];
  const shown = lines.map((line) => `  ${harmless(line)}`);
  printLines([head, ...shown, ...diffLines(diff, io.out)], io.out);
}

export function restoreParts(file: RestoreFile, restored: ReadonlySet<RestoreFile>): object {
  const { client, path, how, taken, left, missing, secrets, stored, withheld, rotated, diff } =
    file;
  const names = { taken, left, missing, secrets, stored, withheld, rotated };
  const { hasHooks: hooks } = file;
  return { client: client.id, path, how, ...names, hooks, diff, restored: restored.has(file) };
}
