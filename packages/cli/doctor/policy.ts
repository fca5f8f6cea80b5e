// The configuration and the policy that hold here.
import { existsSync } from 'node:fs';
import { findPolicy, formatConfigProblem } from '@subluminal/plane/config';
import { fileProblem } from '@subluminal/plane/os';
import { isFailure } from '../failure.ts';
import { loadPolicy, readBundle } from '../load-policy.ts';
import { SILENT } from '../silent-io.ts';
import { plural } from '../text.ts';
import { broken, type Check, type Machine, ok, warn } from './check.ts';

const config: Check = {
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

interface Found {
  readonly path: string;
  readonly origin: string;
}

const HASH_SHOWN = 12;

const policy: Check = {
  id: 'policy',
  run: async (machine) => {
    const found = policyOf(machine);
    if (found === undefined) {
      return warn(
        'there is none: every call passes and is recorded',
        'Write a policy.yaml in the project, or in the home folder.',
      );
    }
    const { path, origin } = found;
    const loaded = await loadPolicy(path, { io: SILENT, isRegular: true });
    if (isFailure(loaded)) {
      return broken(`${loaded.message} [${loaded.code}]`, `${loaded.fix} See \`sub policy lint\`.`);
    }
    const unsafe = fileProblem(path);
    if (unsafe !== undefined) {
      const isStrict = !machine.loaded.ok || machine.loaded.config.profile === 'production';
      const tell = isStrict ? broken : warn;
      return tell(`${unsafe.path} ${unsafe.why} [SUB_FILE_UNSAFE]`, `${unsafe.fix}.`);
    }
    const { ref, document } = loaded.snapshot;
    const text = [
      `${path} (${origin})`,
      `${ref.policy_id} ${ref.policy_version}`,
      `hash ${ref.policy_hash.slice(0, HASH_SHOWN)}…`,
      `mode ${document.mode}`,
      plural(document.rules.length, 'rule'),
    ].join(', ');
    const warnings = await warningsOf(path);
    if (warnings === 0) return ok(text);
    return warn(`${text}, ${plural(warnings, 'warning')}`, `See: sub policy lint ${path}`);
  },
};

/** As a shim would find it. */
function policyOf({ loaded, paths, cwd, userHome }: Machine): Found | undefined {
  const named = loaded.ok ? loaded.config['policy.path'] : null;
  if (named !== null) return { path: named, origin: 'as configured' };
  const found = findPolicy({ cwd, home: paths.home, userHome });
  return found.kind === 'none' ? undefined : { path: found.path, origin: `of the ${found.scope}` };
}

/** A compiled snapshot has been linted before. */
async function warningsOf(path: string): Promise<number> {
  const bundle = await readBundle(path, SILENT);
  if (isFailure(bundle)) return 0;
  return bundle.problems.filter(({ level }) => level === 'warning').length;
}

export { config, policy };
