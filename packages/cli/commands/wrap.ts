import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { startWrap } from '@subluminal/plane/apps/wrap';
import { clientOf } from '@subluminal/plane/clients';
import {
  planWrap,
  type WrapOptions,
  type WrapPlan,
  wrapDiff,
} from '@subluminal/plane/clients/wrap';
import { diffLines, printLines } from '../adopt/lines.ts';
import type { WrapInput } from '../catalog/run.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { hostRun, prepareRun } from '../run/host.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless } from '../terminal/text.ts';

const PORT_MAX = 65_535;

export async function run(input: WrapInput, io: Io): Promise<Outcome> {
  const port = portOf(input.options['governance-port']);
  if (isFailure(port)) return port;
  const prepared = await prepareRun('wrap', input, io);
  if (isFailure(prepared)) return prepared;
  const { options } = input;
  const type = options['agent-type'];
  const wrap: WrapOptions = {
    run: prepared.options,
    client: type === undefined ? undefined : clientOf(type === 'claude' ? 'claude-code' : type),
    configPath: options['config-path'],
    port,
    restores: !options['no-restore'],
    isStrict: options.strict,
    own: { runtime: process.execPath, script: process.argv[1] },
  };
  const plan = await planWrap(wrap);
  if (plan.kind === 'refused') {
    reportFailure({ ...plan, kind: 'failure' }, io, false);
    return done(plan.exitCode);
  }
  return options['dry-run'] ? printPlan(plan, wrap, io) : start(plan, wrap, { input, io });
}

async function start(
  plan: WrapPlan,
  wrap: WrapOptions,
  { input, io }: { readonly input: WrapInput; readonly io: Io },
): Promise<Outcome> {
  let isRestored = true;
  const host = async () => {
    const result = await startWrap(plan, wrap);
    isRestored = result.isRestored;
    return result.run;
  };
  const outcome = await hostRun(host, input.options, io);
  // Whoever reads only the code of the agent would not know that the config is not what it was.
  return isRestored ? outcome : done(EXIT.usage);
}

function portOf(text: string | undefined): number | undefined | Failure {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= PORT_MAX) return port;
  const message = `--governance-port \`${text}\` is no port.`;
  return failure('SUB_USAGE', message, `Give a number from 0 to ${PORT_MAX}; 0 is a free one.`);
}

async function printPlan(plan: WrapPlan, wrap: WrapOptions, io: Io): Promise<Outcome> {
  const diff = await wrapDiff(plan, wrap);
  if (typeof diff !== 'string') return { ...diff, kind: 'failure' };
  for (const warning of plan.warnings) io.err.write(`sub: ${harmless(warning)}\n`);
  printLines(diffLines(diff, io.out), io.out);
  return done(EXIT.fine);
}
