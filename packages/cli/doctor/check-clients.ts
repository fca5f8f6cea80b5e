// Checks whether the servers of agent clients go through `sub shim`. Configs of others hold secrets:
// only the names of servers are printed.
import { sep } from 'node:path';
import type { Adoptions, ServerView, StatusFile } from '@subluminal/plane/clients/setup';
import { startCheck } from '../adopt/can-start.ts';
import { policyFinder } from '../adopt/held-policy.ts';
import { profileInFile } from '../adopt/wish.ts';
import { plural, shortened } from '../terminal/text.ts';
import { broken, type Finding, type Machine, ok, warn } from './check.ts';

const IN_FILE = 'Correct what cannot be read; `sub status` says what is wrong.';

const SHARED_FIX =
  'Configs of a project that git shares with others are changed by `sub import --shared` only.';

/** What to do about servers in a state; `foreign` has a fix of its own. */
const FIXES: { readonly [S in ServerView['state']]?: string } = {
  open: 'Run `sub import` to put a shim in front of each of them.',
  loose:
    'Shims with options that weaken them, which `sub import` did not write, count as none: run `sub import` to put shims of your own in their place.',
  unknown:
    'Calls to servers that no shim can stand before are neither decided nor recorded; `sub status` says why.',
};

export async function checkClients(machine: Machine): Promise<Finding> {
  const { adoptionStatus } = await import('@subluminal/plane/clients/setup');
  const { env, cwd: project, paths } = machine;
  const own = { runtime: process.execPath, script: machine.launcher };
  const userProfile = profileInFile(machine.loaded);
  const { files, unreadable } = adoptionStatus({ env, project, paths, own, userProfile });
  if (files.length + unreadable.length === 0) return ok('no configuration of a known client here');
  const words = [...files.map((file) => fileText(file, project)), ...unreadable.map(unreadText)];
  const text = words.join('; ');
  const faults = await faultsOf(files, machine);
  const loose = files.flatMap(looseTexts).slice(0, FAULTS_MAX);
  if (faults.length > 0) {
    const count = plural(faults.length, 'governed server');
    const fix = 'Run `sub import` where sub has moved; correct the policy where that is at fault.';
    return { ...broken(`${count} cannot start; ${text}`, fix), more: [...faults, ...loose] };
  }
  const fixes = [...stateFixes(files), ...(unreadable.length > 0 ? [IN_FILE] : [])];
  if (fixes.length === 0) return ok(text);
  return { ...warn(text, fixes.join(' ')), ...(loose.length > 0 && { more: loose }) };
}

function stateFixes(files: readonly StatusFile[]): readonly string[] {
  const has = (state: ServerView['state']) => (file: StatusFile) =>
    file.servers.some((server) => server.state === state);
  const fixOf = (state: ServerView['state']) => (files.some(has(state)) ? FIXES[state] : undefined);
  // A config that was named by its path has to be named again.
  const foreign = files
    .filter(has('foreign'))
    .map(({ client, path }) => (client === 'custom' ? `${client} --config-path ${path}` : client));
  const commands = [...new Set(foreign)].map(
    (one) => `\`sub restore ${one}\`, \`sub import ${one}\``,
  );
  const byAnother = `Only the sub that asks is known to govern: take the shims of another one out, then put its own in their place: ${commands.join('; ')}.`;
  const isShared = files.some((one) => one.isShared && (has('open')(one) || has('loose')(one)));
  const fixes = [
    fixOf('open'),
    fixOf('loose'),
    isShared ? SHARED_FIX : undefined,
    commands.length > 0 ? byAnother : undefined,
    fixOf('unknown'),
  ];
  return fixes.filter((fix) => fix !== undefined);
}

const FAULTS_MAX = 20;

/** One line for each server behind a shim that cannot start. */
async function faultsOf(
  files: readonly StatusFile[],
  { env, cwd: project, paths }: Machine,
): Promise<readonly string[]> {
  const policyOf = await policyFinder({ env, project, paths });
  const check = startCheck();
  const faults: string[] = [];
  for (const file of files) {
    for (const server of file.servers.filter(({ program }) => program !== undefined)) {
      const fault = await check.faultOf(server, policyOf(server, file));
      if (fault === undefined || faults.length >= FAULTS_MAX) continue;
      faults.push(`${file.path}: ${shortened(server.name, NAME_LENGTH_MAX)}: ${fault}`);
    }
  }
  return faults;
}

/** One line for each shim that its own entry weakens: the file, the server and the options. */
function looseTexts({ path, servers }: StatusFile): readonly string[] {
  return servers.flatMap(({ name, loose }) =>
    loose === undefined
      ? []
      : [`${path}: ${shortened(name, NAME_LENGTH_MAX)}: sub shim with ${loose.join(', ')}`],
  );
}

function fileText(file: StatusFile, here: string): string {
  const { servers } = file;
  const of = (state: ServerView['state']) => servers.filter((one) => one.state === state);
  const part = (state: ServerView['state'], before: string, after = '') => {
    const found = of(state);
    return found.length === 0 ? [] : [`${before} ${namesOf(found)}${after}`];
  };
  return [
    `${nameOf(file, here)}: ${of('governed').length} of ${plural(servers.length, 'server')} governed`,
    ...part('open', 'not'),
    ...part('loose', 'not', ' (a shim with options that weaken it)'),
    ...part('foreign', 'not counted', ' (started by another sub)'),
    ...part('unknown', 'not', ' (no shim can stand before it)'),
  ].join(', ');
}

function unreadText({ title, scope }: Adoptions['unreadable'][number]): string {
  return `${title}${scope === 'project' ? ', this project' : ''}: the file cannot be read`;
}

/** A record leads to configs of other projects, too, and to those that were named by their path. */
function nameOf({ client, title, path, project }: StatusFile, here: string): string {
  if (client === 'custom') return `${title}, ${path}`;
  if (project === undefined) return title;
  const isHere = here === project || here.startsWith(`${project}${sep}`);
  return `${title}, ${isHere ? 'this project' : project}`;
}

const NAMES_MAX = 8;
const NAME_LENGTH_MAX = 40;

function namesOf(servers: readonly ServerView[]): string {
  const names = [...new Set(servers.map(({ name }) => shortened(name, NAME_LENGTH_MAX)))];
  const rest = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
