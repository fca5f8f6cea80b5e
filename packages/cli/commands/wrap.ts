import { isFailure } from '@subluminal/contracts';
import { startWrap } from '@subluminal/plane/apps/wrap';
import { clientIds, clientOf } from '@subluminal/plane/clients';
import {
  planWrap,
  type WrapOptions,
  type WrapPlan,
  wrapDiff,
} from '@subluminal/plane/clients/wrap';
import { diffLines, printLines } from '../adopt/lines.ts';
import { choice, defineCommand, done, EXIT, type Outcome, textOption } from '../input/command.ts';
import { numberOption } from '../input/read-option.ts';
import { hostRun, notStarted } from '../run/host.ts';
import { RUN_ARGS, RUN_EXIT_CODES, RUN_OPTIONS } from '../run/options.ts';
import { prepareRun } from '../run/prepare.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';

/** 0 stands for any free port. */
const PORTS = { min: 0, max: 65_535 };

const OPTIONS = {
  'agent-type': choice(
    ['claude', ...clientIds()],
    'The client that the agent is (default: by the name of the command)',
  ),
  'config-path': textOption('file', 'Use this config instead of those of the client'),
  'governance-port': textOption(
    'port',
    'Let the hub listen on this port of 127.0.0.1, 0 for a free one (default: a private socket)',
  ),
  'no-restore': 'Leave the config rewritten; `sub unwrap` restores it',
  'dry-run': 'Print how the config would change, and do nothing',
  ...RUN_OPTIONS,
};

export const command = defineCommand({
  description:
    'Finds the config of the agent, makes each of its stdio servers start behind a shim, starts the agent on this terminal as `sub run` does, and restores the config when the agent has ended, for whatever reason. Changes that another program makes to the config meanwhile stay. If `sub wrap` itself is killed, the next `sub` command that may change something restores the config.',
  args: RUN_ARGS,
  options: OPTIONS,
  hasJson: false,
  examples: [
    'sub wrap -- claude',
    'sub wrap --dry-run -- codex',
    'sub wrap --policy policy.yaml --profile development -- cursor .',
    'sub wrap --agent-type custom --config-path mcp.json -- ./my-agent',
  ],
  exitCodes: {
    ...RUN_EXIT_CODES,
    2: 'wrong flags, a broken policy or configuration, a config that cannot be wrapped or restored, or a trace that cannot be written completely',
  },
  run: async (input, io) => {
    const port = numberOption('governance-port', input.options['governance-port'], PORTS);
    const { options } = input;
    const type = options['agent-type'];
    const wrap: WrapOptions = {
      run: await prepareRun('wrap', input, io),
      client: type === undefined ? undefined : clientOf(type === 'claude' ? 'claude-code' : type),
      configPath: options['config-path'],
      port,
      restores: !options['no-restore'],
      isStrict: options.strict,
      own: { runtime: process.execPath, script: process.argv[1] },
    };
    const plan = await planWrap(wrap);
    if (isFailure(plan)) return notStarted(plan, io);
    if (options['dry-run']) return printPlan(plan, wrap, io);
    let isRestored = true;
    const start = async () => {
      const result = await startWrap(plan, wrap);
      isRestored = result.isRestored;
      return result.run;
    };
    const { configPath, run } = wrap;
    const agent = { ...run, client: plan.client, configPath };
    const outcome = await hostRun(start, { ...options, agent }, io);
    // A script that reads only the exit code must learn that the config is not restored.
    return isRestored ? outcome : done(EXIT.usage);
  },
});

async function printPlan(plan: WrapPlan, wrap: WrapOptions, io: Io): Promise<Outcome> {
  const diff = await wrapDiff(plan, wrap);
  if (typeof diff !== 'string') return { ...diff, kind: 'failure' };
  for (const warning of plan.warnings) warn(io, warning);
  if (wrap.run.hooks !== undefined) {
    io.out.write(
      `${plan.client.title} gets its hooks on its command line; no file changes for them.\n`,
    );
  }
  printLines(diffLines(diff, io.out), io.out);
  return done(EXIT.fine);
}
