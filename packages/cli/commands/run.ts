import { startRun } from '@subluminal/plane/apps/run';
import { defineCommand } from '../input/command.ts';
import { hostRun } from '../run/host.ts';
import { RUN_ARGS, RUN_EXIT_CODES, RUN_OPTIONS } from '../run/options.ts';
import { prepareRun } from '../run/prepare.ts';

export const command = defineCommand({
  description:
    'Starts the agent on this terminal and gives its shims one run: one id, one identity, shared budgets. Ends with the exit code of the agent. The events go to the ledger unless --events or --bundle is given.',
  args: RUN_ARGS,
  options: RUN_OPTIONS,
  hasJson: false,
  examples: [
    'sub run -- claude',
    'sub run --agent-id repo-fixer --policy policy.yaml -- codex exec fix',
    'sub run --strict --env ci --bundle trace -- ./agent.sh',
  ],
  exitCodes: RUN_EXIT_CODES,
  run: async (input, io) => {
    const prepared = await prepareRun('run', input, io);
    return hostRun(() => startRun(prepared), { ...input.options, agent: prepared }, io);
  },
});
