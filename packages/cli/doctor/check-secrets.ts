// Checks whether the secrets that are bound to servers are available. Never prints their values.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type SecretBinding, secretSettings } from '@subluminal/plane/config';
import { resolveBindings, type SecretFailure } from '@subluminal/plane/vault';
import type { LoadedConfig } from '../input/own-config.ts';
import { plural } from '../terminal/text.ts';
import { broken, configuredCheck, type Machine, ok, warn } from './check.ts';

interface Bound {
  readonly server: string;
  readonly source: SecretBinding['source'];
  readonly secretRef: string;
  /** Undefined when it can be given. */
  readonly problem: SecretFailure | undefined;
}

export const checkSecrets = configuredCheck('what is bound', async (loaded, machine) => {
  const bound = await boundIn(loaded, machine);
  if (bound.length === 0) return ok('none is bound to a server');
  const wrong = bound.filter(({ problem }) => problem !== undefined);
  if (wrong.length === 0) return ok(`${plural(bound.length, 'secret')} can be given`);
  const text = `${wrong.length} of ${plural(bound.length, 'secret')} cannot be given`;
  const fix = 'Do what is listed; in production, a server does not start without its secrets.';
  const isGrave = wrong.some((one) => isLostEverywhere(one, machine));
  const finding = isGrave ? broken(text, fix) : warn(`${text} from here`, fix);
  return { ...finding, more: wrong.map(words) };
});

/**
 * A variable, a keychain, a passphrase or a service may be there where the agent starts. Files are
 * the same everywhere, and so is our own store where its key is a file.
 */
function isLostEverywhere({ source, secretRef, problem }: Bound, { paths }: Machine): boolean {
  if (source === 'file') return true;
  if (source !== 'vault' || secretRef.includes('://')) return false;
  return problem?.code === 'SUB_SECRET_MISSING' || existsSync(join(paths.home, 'vault.key'));
}

async function boundIn(
  { servers, config }: LoadedConfig,
  { env, paths, userHome }: Machine,
): Promise<readonly Bound[]> {
  const shared = { env, home: paths.home, userHome, settings: secretSettings(config) };
  const bound: Bound[] = [];
  // One after the other: each may ask a service over the network.
  for (const [server, spec] of servers) {
    // Several configs may have a server of one name: a binding is tried with the command it is for.
    for (const key of new Set(spec.secretBindings.map(commandKey))) {
      const secretBindings = spec.secretBindings.filter((one) => commandKey(one) === key);
      const own = new Map([[server, { ...spec, secretBindings }]]);
      const [{ command, url } = {}] = secretBindings;
      const wanted = { ...shared, serverName: server, servers: own };
      const at = { ...(command && { command }), ...(url && { url }) };
      const { problems } = await resolveBindings({ ...wanted, ...at });
      const problemOf = new Map(problems.map((problem) => [problem.injectAs, problem]));
      for (const { injectAs, source, secretRef } of secretBindings) {
        bound.push({ server, source, secretRef, problem: problemOf.get(injectAs) });
      }
    }
  }
  return bound;
}

function commandKey({ command, url }: SecretBinding): string {
  return JSON.stringify(command ?? url ?? null);
}

function words({ server, problem }: Bound): string {
  if (problem === undefined) return server;
  const { code, injectAs, secretRef, message, fix } = problem;
  return `${server}: secret \`${secretRef}\` for ${injectAs}: ${message} ${fix} [${code}]`;
}
