// What keeps other users of the machine from using hooks in its settings. Sentences, for people.
import { closedToOthers, fileProblem } from '../../../os/index.ts';
import type { Env } from '../../../stores/config/home-paths.ts';

const ROOT_ID = 0;

/** Of the runtime and the script that the hooks start. */
export function closedPrograms(program: readonly string[]): readonly string[] {
  return program.flatMap((path) => {
    const closed = closedToOthers(path);
    return closed === undefined ? [] : [`${place(closed, path)}: their hooks refuse everything.`];
  });
}

/** Of the policy that they name. */
export function closedPolicy(policy: string): readonly string[] {
  const closed = closedToOthers(policy);
  if (closed !== undefined) {
    return [`${place(closed, policy)}: with this policy, their hooks refuse everything.`];
  }
  // They trust what belongs to root or to themselves.
  const foreign = fileProblem(policy, ROOT_ID);
  if (foreign === undefined) return [];
  const { path, why, fix } = foreign;
  const whose = `Other users of this machine do not trust the policy ${policy}, because ${path} ${why}`;
  return [`${whose}: their hooks refuse everything. ${fix}`];
}

/** Each user has a folder of sub of their own: with one for all, the hooks of all but its owner would fail. */
export function unsharedHome({ SUB_HOME: home }: Env): readonly string[] {
  const whose = 'they use .subluminal in the home of the user who runs the agent';
  return home ? [`SUB_HOME (${home}) does not count for hooks of the machine: ${whose}.`] : [];
}

function place(closed: string, path: string): string {
  const where = closed === path ? path : `${closed}, and with it ${path},`;
  return `${where} is closed to other users of this machine`;
}
