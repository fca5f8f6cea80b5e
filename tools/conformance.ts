// `npm run conformance [-- server|client] [REVISION] [serve|shim] [SCENARIO…]`: the official conformance suite of MCP, directly
// and through `sub`. No check may fail through `sub` that passes directly. What this machine cannot
// install is skipped and named; with `--required` that is a failure.
import { install, installText } from '../test/clients/install.ts';
import { judge, type Row, rowsOf, WAYS, type Way } from '../test/conformance/mcp/judge.ts';
import { KNOWN_FAILURES } from '../test/conformance/mcp/known-failures.ts';
import { runLeg } from '../test/conformance/mcp/legs.ts';
import { LOGIN_DESK_VARIABLE, openLoginDesk } from '../test/conformance/mcp/login-desk.ts';
import { table, verdictText } from '../test/conformance/mcp/report.ts';
import { MODES, type Mode, REVISIONS, SUITE } from '../test/conformance/mcp/suite.ts';

const REQUIRED = '--required';
/** The suite cannot speak stdio to a server. */
const THROUGH_SUB: Readonly<Record<Mode, readonly Way[]>> = {
  server: ['serve'],
  client: ['serve', 'shim'],
};

async function main(args: readonly string[]): Promise<number> {
  const outcome = await install(SUITE);
  process.stdout.write(`conformance: ${installText(SUITE, outcome)}\n`);
  if (outcome.kind === 'failed') return 1;
  if (outcome.kind === 'absent') return args.includes(REQUIRED) ? 1 : 0;

  // It adds 50 ms to each of the hundreds of processes to come, and none of them speaks to the outside.
  delete process.env['NODE_EXTRA_CA_CERTS'];
  const words = args.filter((arg) => arg !== REQUIRED);
  const choices = new Set<string>([...MODES, ...REVISIONS, ...WAYS]);
  const scenarios = words.filter((word) => !choices.has(word));
  const desk = await openLoginDesk();
  process.env[LOGIN_DESK_VARIABLE] = desk.url;
  const rowsOfMode = async (mode: Mode): Promise<readonly Row[]> => {
    const rows: Row[] = [];
    for (const revision of namedOrAll(REVISIONS, words)) {
      const ways: readonly Way[] = ['direct', ...namedOrAll(THROUGH_SUB[mode], words)];
      const leg = await runLeg({ mode, revision, ways, scenarios });
      rows.push(...rowsOf(leg, KNOWN_FAILURES));
    }
    return rows;
  };
  // Both at once: the scenarios of servers spend most of their time waiting.
  const rows = (await Promise.all(namedOrAll(MODES, words).map(rowsOfMode))).flat();
  desk.close();
  const verdict = judge(rows);
  process.stdout.write(`${table(rows)}\n${verdictText(verdict)}\n`);
  return verdict.isClean ? 0 : 1;
}

function namedOrAll<Name extends string>(all: readonly Name[], words: readonly string[]) {
  const named = all.filter((name) => words.includes(name));
  return named.length === 0 ? all : named;
}

process.exitCode = await main(process.argv.slice(2));
