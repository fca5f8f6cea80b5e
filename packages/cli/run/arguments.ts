// What the parser of the command line lets pass, for all commands that host a run.

import type { Failure } from '@subluminal/contracts';
import { badUsage } from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import type { RunInput } from './options.ts';

type RunFlags = RunInput['options'];

const META = /^([A-Za-z_][A-Za-z0-9_.-]{0,63})=(.*)$/s;
const META_MAX = 50;
const WORD_LENGTH_MAX = 256;
const VALUE_LENGTH_MAX = 1_024;

/** `name` is the command of `sub` that was called. */
export function wrongCall(name: string, { args, options }: RunInput): Failure | undefined {
  const behind = process.argv.slice(process.argv.indexOf('--') + 1);
  if (!process.argv.includes('--') || behind.length !== args.command.length) {
    const message = 'the command of the agent must stand behind `--`.';
    return badUsage(message, `Write: sub ${name} [options] -- AGENT ARGS…`);
  }
  for (const option of ['agent-id', 'principal'] as const) {
    const word = options[option];
    if (word !== undefined && (word === '' || word.length > WORD_LENGTH_MAX)) {
      return badUsage(`--${option} takes 1 to ${WORD_LENGTH_MAX} characters.`, 'Give a name.');
    }
  }
  for (const option of ['policy', 'cedar', 'events', 'bundle'] as const) {
    if (options[option] !== '') continue;
    return badUsage(`--${option} is empty.`, 'Name a file or a folder.');
  }
  if (options.policy === STDIO) {
    // Each shim reads it for itself, and again when it changes.
    return badUsage('--policy must be a file.', 'Save the policy, and name its file.');
  }
  return wrongTogether(options);
}

function wrongTogether(options: RunFlags): Failure | undefined {
  if (options.force && options.bundle === undefined) {
    return badUsage('--force goes with --bundle.', 'Leave it out.');
  }
  if (options['allow-no-server'] && !options.strict) {
    return badUsage('--allow-no-server goes with --strict.', 'Leave it out.');
  }
  const sink = sinkOf(options.events);
  if (sink !== undefined && options.bundle !== undefined) {
    const message = `--events ${sink} leaves nothing for --bundle.`;
    return badUsage(message, `Leave one out; a file of that name is ./${sink}.`);
  }
  return undefined;
}

/** The words that `sub shim` takes, too. */
export function sinkOf(events: string | undefined): 'ledger' | 'off' | undefined {
  return events === 'ledger' || events === 'off' ? events : undefined;
}

interface Meta {
  readonly kind: 'meta';
  readonly meta: { readonly [key: string]: string };
}

export function readMeta(words: readonly string[]): Meta | Failure {
  const fix = 'Write: --meta key=value';
  if (words.length > META_MAX) {
    return badUsage(`--meta may be given ${META_MAX} times.`, 'Leave some out.');
  }
  const meta = new Map<string, string>();
  for (const word of words) {
    const [, key, value = ''] = META.exec(word) ?? [];
    if (key === undefined) return badUsage(`--meta ${word} is not key=value.`, fix);
    if (value.length > VALUE_LENGTH_MAX) {
      const message = `--meta ${key} is longer than ${VALUE_LENGTH_MAX} characters.`;
      return badUsage(message, 'Shorten it.');
    }
    if (meta.has(key) || key === 'parent_run_id') {
      const message = `--meta ${key} is ${meta.has(key) ? 'given twice' : 'set by sub itself'}.`;
      return badUsage(message, 'Choose another key.');
    }
    meta.set(key, value);
  }
  return { kind: 'meta', meta: Object.fromEntries(meta) };
}
