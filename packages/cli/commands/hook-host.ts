import { badUsage, defineCommand, done, EXIT, textOption } from '../input/command.ts';

const AGENT = /^(\d{1,10})-([A-Za-z0-9-]{1,64})$/;

export const command = defineCommand({
  description:
    'Answers the hooks of one agent until the agent has ended, and has the hub that its servers share with them. `sub hook` and `sub shim` start it in the background for an agent that no `sub run` has started; it decides by the settings of SUB_HOME and the policy that the hooks name, or that of the folder that the agent works in.',
  options: {
    agent: textOption('process', 'The process of the agent: its number, and when it started'),
    policy: textOption(
      'file',
      'The policy that the start of the run names (default: found from the folder that the agent works in)',
    ),
  },
  hasJson: false,
  examples: ['sub hook-host --agent 4711-5042-b00710ad'],
  exitCodes: { 0: 'it has served, or another one does', 2: 'it could not serve' },
  run: async ({ options }, io) => {
    const [, pid, start] = AGENT.exec(options.agent ?? '') ?? [];
    if (pid === undefined || start === undefined)
      return badUsage('--agent names no process.', 'Let `sub hook` start it.');
    const { startHookHost } = await import('@subluminal/plane/apps/hook-host');
    const { env } = process;
    const agent = { pid: Number(pid), start };
    const onReady = (): void => io.out.write('ready\n');
    const why = await startHookHost({
      ...{ agent, env, cwd: process.cwd(), onReady },
      policy: options.policy,
    });
    if (why === undefined) return done(EXIT.fine);
    // The hook that has started it reads this, and refuses with it.
    io.out.write(`${why}\n`);
    return done(EXIT.usage);
  },
});
