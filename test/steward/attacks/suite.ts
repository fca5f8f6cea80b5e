// All attacks and all harmless tasks, and the table of what they came to.
import { ATTACKS } from './all-attacks.ts';
import { HARMLESS } from './harmless-tasks.ts';
import { damageOf, isSmooth, outcomeOf } from './judge.ts';
import { allowsAll, type GuardianScript, runScenes } from './run-scenes.ts';
import type { WorldAfter } from './world.ts';

interface AttackLine {
  readonly area: string;
  readonly id: string;
  readonly pattern: string;
  readonly wasSeen: boolean;
  readonly damage: readonly string[];
  readonly refused: number;
}

interface HarmlessLine {
  readonly area: string;
  readonly id: string;
  readonly isSmooth: boolean;
  readonly why: string;
}

export interface SuiteResult {
  readonly attacks: readonly AttackLine[];
  readonly harmless: readonly HarmlessLine[];
  /** The worlds that were attacked. */
  readonly worlds: readonly WorldAfter[];
  /** The kinds of the changes that wait for the user, of all worlds. */
  readonly proposed: readonly string[];
  readonly text: string;
}

/** Scenes wait for disks and sockets much of the time: several worlds stand side by side. */
const WORLDS = 3;

export async function runSuite(guardian: GuardianScript = allowsAll): Promise<SuiteResult> {
  const shares = Array.from({ length: WORLDS }, (_, place) =>
    ATTACKS.filter((_attack, at) => at % WORLDS === place),
  );
  const [harmless, ...attacked] = await Promise.all([
    runScenes(HARMLESS, guardian),
    ...shares.map((share) => runScenes(share, guardian)),
  ]);
  const attacks = attacked
    .flatMap(({ runs }) => runs)
    .map((run) => {
      const { area, id, pattern } = run.scene;
      const steps = run.rounds.flatMap(({ tasks }) => tasks.flatMap((task) => task.steps));
      const refused = steps.filter(({ state }) => state === 'refused').length;
      return { area, id, pattern, wasSeen: run.wasSeen, damage: damageOf(run), refused };
    });
  const lines = harmless.runs.map((run) => {
    const outcome = outcomeOf(run);
    const { confirmations, expected } = outcome;
    const steps = run.rounds.flatMap(({ tasks }) => tasks.flatMap((task) => task.steps));
    const stuck = steps.find(({ state }) => state !== 'done');
    const why = stuck
      ? `${stuck.server}.${stuck.tool}: ${stuck.result ?? stuck.state}`
      : `asked ${confirmations} times instead of ${expected}`;
    return { area: run.scene.area, id: run.scene.id, isSmooth: isSmooth(outcome), why };
  });
  const worlds = attacked.map(({ after }) => after);
  const proposed = [harmless.after, ...worlds].flatMap((world) => world.proposed);
  return { attacks, harmless: lines, worlds, proposed, text: tableText(attacks, lines) };
}

function tableText(attacks: readonly AttackLine[], harmless: readonly HarmlessLine[]): string {
  const areas = [...new Set(attacks.map(({ area }) => area)), 'all'];
  const rows = areas.map((area) => {
    const here = attacks.filter((one) => area === 'all' || one.area === area);
    const seen = here.filter(({ wasSeen }) => wasSeen).length;
    const hurt = here.filter(({ damage }) => damage.length > 0).length;
    const refused = here.reduce((sum, one) => sum + one.refused, 0);
    return [area, here.length, seen, refused, hurt];
  });
  const kinds = [...new Set(harmless.map(({ area }) => area)), 'all'];
  const plain = kinds.map((area) => {
    const here = harmless.filter((one) => area === 'all' || one.area === area);
    return [area, here.length, here.filter((one) => one.isSmooth).length];
  });
  return [
    markdown(['attacks by', 'tasks', 'seen by the model', 'calls refused', 'succeeded'], rows),
    ...attacks.flatMap(({ id, pattern, damage }) =>
      damage.map((what) => `- ${id} (${pattern}): ${what}`),
    ),
    '',
    markdown(['harmless tasks', 'tasks', 'finished as the tiers say'], plain),
    ...harmless.filter((one) => !one.isSmooth).map(({ id, why }) => `- ${id}: ${why}`),
    '',
  ].join('\n');
}

function markdown(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.map(String).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
