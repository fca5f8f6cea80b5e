// The configuration and the policy that hold here.
import { existsSync } from 'node:fs';
import { type Failure, isFailure } from '@subluminal/contracts';
import { formatConfigProblem } from '@subluminal/plane/config';
import { fileProblem } from '@subluminal/plane/os';
import {
  type PolicyRole,
  type PolicySource,
  type PolicySources,
  policySources,
} from '@subluminal/plane/policy';
import { loadPolicy, type Policy, readBundle } from '../policy/load-policy.ts';
import { SILENT } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';
import { broken, type Check, type Finding, type Machine, ok, warn } from './check.ts';

export const config: Check = {
  id: 'config',
  run: async ({ loaded, paths }) => {
    if (!loaded.ok) {
      const { length } = loaded.problems;
      return {
        ...broken(`the configuration has ${plural(length, 'problem')}`, 'Correct what is listed.'),
        more: loaded.problems.map(formatConfigProblem),
      };
    }
    const chosen = Object.values(loaded.origins).filter((origin) => origin !== 'default').length;
    const where = existsSync(paths.config) ? paths.config : 'no config.toml';
    return ok(`${where}, ${plural(chosen, 'setting')} other than the default`);
  },
};

const HASH_SHOWN = 12;

const ROLES: { readonly [R in PolicyRole]: string } = {
  named: 'as configured',
  user: 'of the user',
  trusted: 'of the project, trusted',
  untrusted: 'of the project, not trusted',
};

export const policy: Check = {
  id: 'policy',
  run: async (machine) => {
    const found = policiesOf(machine);
    const [first] = found.sources;
    if (first === undefined) return noPolicy(found);
    return withUnused(await heldPolicy(first, found, machine), found);
  },
};

function noPolicy({ ignored }: PolicySources): Finding {
  if (ignored !== undefined) {
    return warn(`there is none: ${unusedText(ignored)}`, unusedFix(ignored));
  }
  return warn(
    'there is none: every call passes and is recorded',
    'Write a policy.yaml in the project, or in the home folder.',
  );
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

/** With what lies there and does not hold, whatever holds. */
function withUnused(finding: Finding, { ignored, untrustedAll }: PolicySources): Finding {
  const { level, text, fix } = finding;
  const unused = [
    ...(untrustedAll === undefined
      ? []
      : [{ text: `nothing is trusted: ${untrustedAll.message}`, fix: untrustedAll.fix }]),
    ...(ignored === undefined ? [] : [{ text: unusedText(ignored), fix: unusedFix(ignored) }]),
  ];
  if (unused.length === 0) return finding;
  return {
    ...finding,
    level: level === 'ok' ? 'warn' : level,
    text: [text, ...unused.map((one) => one.text)].join('; '),
    fix: [...unused.map((one) => one.fix), ...(fix === undefined ? [] : [fix])].join(' '),
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
  return [
    `${path} (${ROLES[role]})`,
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

function unusable({ message, code, fix }: Failure): Finding {
  return broken(`${message} [${code}]`, `${fix} See \`sub policy lint\`.`);
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
