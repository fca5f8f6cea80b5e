// Checks whether the own tools of agent clients are governed by hooks, and what these do not hold against.
import type { HookStatus } from '@subluminal/plane/clients/setup';
import { broken, type Finding, type Machine, ok, warn } from './check.ts';

export async function checkHooks(machine: Machine): Promise<Finding> {
  const { hookStatus } = await import('@subluminal/plane/clients/setup');
  const { env, cwd: project, paths, launcher: script } = machine;
  const own = { runtime: process.execPath, script };
  const found = hookStatus({ env, project, paths, own });
  if (found.length === 0) return ok('no client with tools of its own here');
  const text = found.map(stateText).join('; ');
  const problems = found.flatMap((one) => one.problems);
  const limits = found.flatMap(({ title, limits: list }) => list.map((one) => `${title}: ${one}`));
  const more = [...problems, ...limits];
  const finding = findingOf(found, text);
  return more.length === 0 ? finding : { ...finding, more };
}

function findingOf(found: readonly HookStatus[], text: string): Finding {
  const faulty = found.filter(({ state }) => state === 'faulty').map(({ client }) => client);
  if (faulty.length > 0) {
    const commands = faulty.map((client) => `\`sub import ${client} --hooks\``);
    return broken(text, `Mend what is named, or put the hooks in anew: ${commands.join(', ')}.`);
  }
  const open = found.filter(({ state }) => state === 'session' || state === 'absent');
  if (open.length === 0) return ok(text);
  const commands = open.map(({ client }) => `\`sub import ${client} --hooks\``).join(', ');
  const isStartable = open.every(({ state }) => state === 'session');
  const fix = isStartable ? 'Start them by `sub run`, or put hooks in' : 'Put hooks in';
  return warn(text, `${fix}: ${commands}.`);
}

function stateText(status: HookStatus): string {
  const { title, version } = status;
  const name = version === undefined ? title : `${title} ${version}`;
  return `${name}: ${hookWords(status)}`;
}

/** By what the own tools and the prompts of a client are governed. */
export function hookWords({
  state,
  paths,
  isManaged,
  sandbox,
}: Pick<HookStatus, 'state' | 'paths' | 'isManaged' | 'sandbox'>): string {
  const where = paths.join(', ');
  const words: { readonly [known in HookStatus['state']]: string } = {
    installed: `own tools and prompts governed by ${isManaged ? 'managed ' : ''}hooks in ${where}`,
    faulty: `own tools and prompts NOT all governed by the hooks in ${where}`,
    session: 'own tools and prompts governed by `sub run` and `sub wrap` only',
    absent: 'own tools and prompts not governed: it takes hooks from its settings alone',
    none: 'own tools and prompts not governed: it has no hooks that sub knows',
  };
  return `${words[state]}${sandbox === undefined ? '' : `; ${sandboxWords(sandbox)}`}`;
}

function sandboxWords({ path, isChanged }: NonNullable<HookStatus['sandbox']>): string {
  const what = `sandbox settings of a policy in ${path}`;
  return isChanged ? `others have changed the ${what}: \`sub policy sandbox\` writes them` : what;
}
