// Checks of the configuration and of everything that decides calls: the policy, Cedar policies,
// manifests and pins.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { catchFailure, type Failure, isFailure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/policy';
import type { PinStore } from '@subluminal/core/surface';
import { formatConfigFailure } from '@subluminal/plane/config';
import {
  type ChangedDefinition,
  openSqliteReader,
  unacceptedChanges,
} from '@subluminal/plane/ledger';
import { fileProblem } from '@subluminal/plane/os';
import {
  type PolicyRole,
  type PolicySource,
  type PolicySources,
  policySources,
} from '@subluminal/plane/policy';
import { openPins } from '@subluminal/plane/surface';
import { loadPolicy, type Policy } from '../policy/load-policy.ts';
import { readBundle } from '../policy/read-bundle.ts';
import { changeLine } from '../surface/change-line.ts';
import { checkFile } from '../surface/check-manifest.ts';
import { SILENT } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';
import {
  broken,
  brokenBy,
  codeOf,
  configuredCheck,
  type Finding,
  ledgerPlaces,
  type Machine,
  ok,
  warn,
} from './check.ts';

export async function checkConfig({ loaded, paths }: Machine): Promise<Finding> {
  if (!loaded.ok) {
    const { length } = loaded.problems;
    return {
      ...broken(`the configuration has ${plural(length, 'problem')}`, 'Correct what is listed.'),
      more: loaded.problems.map(formatConfigFailure),
    };
  }
  const chosen = Object.values(loaded.origins).filter((origin) => origin !== 'default').length;
  const where = existsSync(paths.config) ? paths.config : 'no config.toml';
  return ok(`${where}, ${plural(chosen, 'setting')} other than the default`);
}

const HASH_SHOWN = 12;

const ROLES: { readonly [R in PolicyRole]: string } = {
  named: 'as configured',
  user: 'of the user',
  trusted: 'of the project, trusted',
  untrusted: 'of the project, not trusted',
};

export async function checkPolicy(machine: Machine): Promise<Finding> {
  const found = policiesOf(machine);
  const [first] = found.sources;
  if (first === undefined) return noPolicy(found);
  return withUnused(await heldPolicy(first, found, machine), found);
}

function noPolicy({ ignored }: PolicySources): Finding {
  if (ignored !== undefined) {
    return warn(`there is none: ${unusedText(ignored)}`, unusedFix(ignored));
  }
  return warn('there is none: every call passes and is recorded', 'Write one: sub init');
}

async function heldPolicy(
  first: PolicySource,
  { sources }: PolicySources,
  machine: Machine,
): Promise<Finding> {
  const [, second] = sources;
  const loaded = await loadPolicy(first, { io: SILENT, isRegular: true });
  if (isFailure(loaded)) return unusable(loaded);
  const unsafe = unsafeIn(sources, machine);
  if (unsafe !== undefined) return unsafe;
  const text = textOf(first, loaded);
  if (second !== undefined) return tightened(text, second);
  const warnings = await warningsOf(first.path);
  if (warnings === 0) return ok(text);
  return warn(`${text}, ${plural(warnings, 'warning')}`, `See: sub policy lint ${first.path}`);
}

/** Adds the policies that are there and do not apply. */
function withUnused(finding: Finding, { ignored, untrustedAll }: PolicySources): Finding {
  const { level, fix } = finding;
  const texts = [finding.text];
  const fixes: string[] = [];
  if (untrustedAll !== undefined) {
    texts.push(`nothing is trusted: ${untrustedAll.message.replace(/\.$/, '')}`);
    fixes.push(untrustedAll.fix);
  }
  if (ignored !== undefined) {
    texts.push(unusedText(ignored));
    fixes.push(unusedFix(ignored));
  }
  if (fixes.length === 0) return finding;
  return {
    ...finding,
    level: level === 'ok' ? 'warn' : level,
    text: texts.join('; '),
    fix: [...fixes, ...(fix === undefined ? [] : [fix])].join(' '),
  };
}

type Ignored = NonNullable<PolicySources['ignored']>;

function unusedText({ path, why }: Ignored): string {
  return `${path} is not used, since ${why}`;
}

function unusedFix({ fix }: Ignored): string {
  const isNamed = fix.includes('--policy');
  return `To use it, ${fix}${isNamed ? ', or `path` under [policy] in config.toml' : ''}`;
}

function textOf({ path, role }: PolicySource, { snapshot }: Policy): string {
  const { ref, document } = snapshot;
  // Alone it holds already, but for these two, which only a trusted policy may set.
  const needsTrust = document.self_protection !== undefined || document.mode === 'observe';
  const whose = role === 'untrusted' && !needsTrust ? 'of the project' : ROLES[role];
  return [
    `${path} (${whose})`,
    `${ref.policy_id} ${ref.policy_version}`,
    `hash ${ref.policy_hash.slice(0, HASH_SHOWN)}…`,
    `mode ${document.mode}`,
    plural(document.rules.length, 'rule'),
  ].join(', ');
}

/** Files that others can write say nothing of what their owner wants. */
function unsafeIn(sources: readonly PolicySource[], { loaded }: Machine): Finding | undefined {
  const unsafe = sources.map(({ path }) => fileProblem(path)).find((one) => one !== undefined);
  if (unsafe === undefined) return undefined;
  const isStrict = !loaded.ok || loaded.config.profile === 'production';
  const tell = isStrict ? broken : warn;
  return tell(`${unsafe.path} ${unsafe.why} [SUB_FILE_UNSAFE]`, `${unsafe.fix}.`);
}

/** The policy of the project is applied as well, and lets nothing more pass. */
async function tightened(text: string, second: PolicySource): Promise<Finding> {
  const loaded = await loadPolicy(second, { io: SILENT, isRegular: true });
  if (isFailure(loaded)) return unusable(loaded);
  return {
    ...warn(
      `${text}; it is only tightened by ${second.path}, which is not trusted`,
      `To let it hold instead: sub trust ${second.path}`,
    ),
    more: [textOf(second, loaded)],
  };
}

function unusable(failed: Failure): Finding {
  return brokenBy({ ...failed, fix: `${failed.fix} See \`sub policy lint\`.` });
}

/** As a shim would find them. */
function policiesOf({ loaded, paths, cwd, userHome }: Machine): PolicySources {
  const named = loaded.ok ? loaded.config['policy.path'] : null;
  return policySources({ cwd, home: paths.home, userHome, named, trusts: false });
}

/** A compiled snapshot has been linted before. */
async function warningsOf(path: string): Promise<number> {
  const bundle = await readBundle(path, SILENT);
  if (isFailure(bundle)) return 0;
  return bundle.problems.filter(({ level }) => level === 'warning').length;
}

const PROBLEMS_SHOWN_MAX = 20;

export const checkCedar = configuredCheck('where they are', async ({ config: settings }) => {
  const policies = settings['cedar.policies'];
  if (policies === null) return ok('none are configured');
  const { loadCedar } = await import('@subluminal/plane/cedar');
  const schema = settings['cedar.schema'] ?? undefined;
  const entities = settings['cedar.entities'] ?? undefined;
  const opened = await loadCedar({ policies, schema, entities });
  const more = opened.problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem);
  if (!opened.ok) {
    const fix = 'Do what is listed; in production, no run starts and no call passes with them.';
    return { ...broken(`the policies of ${policies} cannot be used`, fix), more };
  }
  const { length } = opened.cedar.policies;
  opened.cedar.close();
  const count = length === 1 ? '1 policy' : `${length} policies`;
  const text = `${count} of ${policies}, asked in \`sub run\` and \`sub wrap\` only`;
  return more.length === 0 ? ok(text) : { ...warn(text, 'Look at what is listed.'), more };
});

const FILES_MAX = 1_000;

export const checkManifests = configuredCheck('where they are', async ({ config: settings }) => {
  const { 'surface.manifests': folder, profile } = settings;
  const names = namesIn(folder);
  if (names.length === 0) return ok(`none in ${folder}`);
  const wrong: string[] = [];
  for (const name of names) {
    const checked = await checkFile(join(folder, name), { folder, profile }, SILENT);
    if (isFailure(checked)) wrong.push(`${checked.message} [${checked.code}]`);
    else wrong.push(...checked.problems.map(formatProblem));
  }
  if (wrong.length === 0) return ok(`${plural(names.length, 'manifest')} in ${folder}`);
  const fix = 'See `sub manifest check`; in production, these servers do not start.';
  return { ...broken(`${plural(wrong.length, 'problem')} in ${folder}`, fix), more: wrong };
});

function namesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/i.test(name));
    return names.toSorted().slice(0, FILES_MAX);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return [];
    throw cause;
  }
}

const CHANGES_SHOWN_MAX = 10;

/** A ledger that cannot be read is told of by its own check. */
async function changesIn(
  file: string,
  store: PinStore,
  nowMs: number,
): Promise<readonly ChangedDefinition[]> {
  const reader = await catchFailure(() => openSqliteReader({ file }));
  if (isFailure(reader)) return [];
  try {
    return await unacceptedChanges(reader, store, nowMs);
  } finally {
    await reader.close();
  }
}

export async function checkPins(machine: Machine): Promise<Finding> {
  const { loaded, paths, nowMs } = machine;
  const opened = openPins(paths.home);
  if (isFailure(opened)) return brokenBy(opened);
  const servers = [...opened.store.servers.values()];
  const count = servers.reduce((sum, { tools }) => sum + tools.size, 0);
  const text = `${plural(count, 'tool')} of ${plural(servers.length, 'server')}`;
  if (!loaded.ok || loaded.config['pins.mode'] !== 'off') {
    const changes = await changesIn(ledgerPlaces(machine).file, opened.store, nowMs);
    if (changes.length === 0) return ok(text);
    const changed = `${text}; ${plural(changes.length, 'definition')} changed and not accepted`;
    const fix = 'Look with `sub pins diff`, then accept what is meant with `sub pins accept`.';
    return { ...warn(changed, fix), more: changes.slice(0, CHANGES_SHOWN_MAX).map(changeLine) };
  }
  return warn(`${text}, but nothing is held against them`, 'Set `pins.mode` to `on`.');
}
