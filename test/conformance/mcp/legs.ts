// Runs the suite of one mode and revision on each way: directly, through `sub serve`, through `sub shim`.
import { join } from 'node:path';
import { ROOT } from '../../clients/installed.ts';
import { bundledFixture, SERVER_OF, type Started, startServer } from './fixtures.ts';
import { type Leg, type Outcome, problemsOf, type Way } from './judge.ts';
import { KNOWN_FAILURES } from './known-failures.ts';
import { startServe, subHome } from './sub-serve.ts';
import { type Mode, type Revision, runSuite } from './suite.ts';

export interface LegOptions {
  readonly mode: Mode;
  readonly revision: Revision;
  readonly ways: readonly Way[];
  /** Only these; all that the revision names if there are none. */
  readonly scenarios: readonly string[];
}

const SUB = join(ROOT, 'packages', 'cli', 'bin', 'sub.mjs');
/** Each has a suite, a client and a `sub` of its own: more at once are not quicker. */
const AT_ONCE = 3;
/** More than this is no hiccup of a busy machine. */
const REPEATS_MAX = 5;

type RunScenario = (scenario: string) => Promise<readonly Outcome[]>;

export async function runLeg({ mode, revision, ways, scenarios }: LegOptions): Promise<Leg> {
  const outcomes: Partial<Record<Way, readonly Outcome[]>> = {};
  const take = mode === 'server' ? serverWay : clientWay;
  for (const way of ways) {
    const target = await take(way, revision);
    try {
      const run = { mode, revision, target: target.url };
      const runScenario: RunScenario = (scenario) => runSuite({ ...run, scenario });
      const names = scenarios.length > 0 ? scenarios : scenariosFor(mode, way, outcomes.direct);
      const all = names === 'all' ? await runSuite(run) : await inTurn(names, runScenario);
      const failed = failedOf(all, outcomes.direct ?? all);
      const unknown = failed.filter((scenario) => !isKnown(mode, scenario));
      outcomes[way] = await repeated(all, unknown, runScenario);
    } finally {
      await target.stop();
    }
  }
  return { mode, revision, outcomes };
}

/** The suite starts all clients of a batch at once, which is too much when each brings a `sub` along. */
function scenariosFor(
  mode: Mode,
  way: Way,
  direct: readonly Outcome[] = [],
): readonly string[] | 'all' {
  if (mode === 'server' || way === 'direct') return 'all';
  return direct.map(({ scenario }) => scenario).filter((scenario) => !isKnown(mode, scenario));
}

async function inTurn(names: readonly string[], run: RunScenario): Promise<readonly Outcome[]> {
  const left = [...names];
  const outcomes: Outcome[] = [];
  const worker = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      outcomes.push(...(await run(name)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

function failedOf(all: readonly Outcome[], direct: readonly Outcome[]): readonly string[] {
  const failed = all.filter((outcome) => {
    const reference = direct.find(({ scenario }) => scenario === outcome.scenario) ?? outcome;
    return problemsOf(outcome, reference).length > 0;
  });
  return failed.map(({ scenario }) => scenario);
}

/** The suite measures times: what failed beside others runs again, one after the other. */
async function repeated(
  outcomes: readonly Outcome[],
  failed: readonly string[],
  run: RunScenario,
): Promise<readonly Outcome[]> {
  if (failed.length > REPEATS_MAX) return outcomes;
  const again: Outcome[] = [];
  for (const scenario of failed) again.push(...(await run(scenario)));
  return outcomes.map(
    (outcome) => again.find(({ scenario }) => scenario === outcome.scenario) ?? outcome,
  );
}

async function serverWay(way: Way, revision: Revision): Promise<Started> {
  const fixture = await startServer([bundledFixture(SERVER_OF[revision])]);
  if (way === 'direct') return fixture;
  const home = subHome(SUB);
  const serve = await startServe(home, { fixture: { url: fixture.url } });
  return {
    url: `${serve.origin}/mcp/fixture`,
    stop: async () => {
      await serve.stop();
      await fixture.stop();
      home.remove();
    },
  };
}

/** Its "address" is the command that the suite starts. */
async function clientWay(way: Way): Promise<Started> {
  const program = bundledFixture('client/main');
  return { url: `${process.execPath} ${program} ${way}`, stop: async () => undefined };
}

function isKnown(mode: Mode, name: string): boolean {
  return KNOWN_FAILURES.some(
    ({ notReached, ...known }) =>
      notReached === undefined && known.mode === mode && known.scenario === name,
  );
}
