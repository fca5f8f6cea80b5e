// `sub hook` for the help only: bin/sub.cjs starts a hook by packages/cli/entry/hook.ts, which loads less.
import { badUsage, defineCommand, textOption } from '../input/command.ts';

export const command = defineCommand({
  description:
    "Reads one input of a hook from standard input, asks the run what the policy says to it, and answers in the client's own form. Clients start it around their own tools; `sub run`, `sub wrap` and `sub import --hooks` write the command. When the run cannot be asked, or anything else goes wrong, it refuses.",
  args: { client: 'The client: claude-code, codex, cursor, gemini-cli or copilot-cli' },
  options: {
    socket: textOption(
      'path',
      'The socket of the run; set by `sub run` and `sub wrap`. Without it, the host of the agent that has started the hook is asked',
    ),
    policy: textOption(
      'file',
      'The policy of that host (default: found from the folder that the agent works in)',
    ),
  },
  hasJson: false,
  examples: ['sub hook claude-code', 'sub hook claude-code --socket /tmp/sub/hooks.sock'],
  exitCodes: {
    0: 'the client goes on, or reads its answer from standard output',
    2: 'refused: the reason is on standard error',
  },
  // bin/sub.cjs comes here only when a word asks for help.
  run: async () =>
    badUsage('the value of an option looks like an option.', 'Write `--socket=PATH`.'),
});
