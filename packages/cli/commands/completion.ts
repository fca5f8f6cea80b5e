import { type CompletionPoint, completionPoints, SHELLS } from '../completion/points.ts';
import { bashScript, fishScript, zshScript } from '../completion/scripts.ts';
import { badUsage, defineCommand, done, EXIT } from '../input/command.ts';
import { didYouMean } from '../input/guess.ts';
import { HELP_SECTIONS } from './index.ts';

type Shell = (typeof SHELLS)[number];

const SCRIPTS: { readonly [S in Shell]: (points: readonly CompletionPoint[]) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const command = defineCommand({
  description:
    'Prints a script that lets the shell complete commands, options and their values. For bash, put `source <(sub completion bash)` into ~/.bashrc; for zsh, write the script to a file `_sub` in a folder of $fpath; for fish, to ~/.config/fish/completions/sub.fish.',
  args: { shell: `The shell: ${SHELLS.join(', ')}` },
  hasJson: false,
  examples: ['sub completion bash', 'sub completion fish'],
  exitCodes: { 0: 'the script is printed', 2: 'wrong flags, or an unknown shell' },
  run: async ({ args }, io) => {
    const shell = SHELLS.find((name) => name === args.shell);
    if (shell === undefined) {
      const fix = didYouMean(args.shell, SHELLS, `Name one of ${SHELLS.join(', ')}.`);
      return badUsage(`\`${args.shell}\` is not a supported shell.`, fix);
    }
    io.out.write(SCRIPTS[shell](await completionPoints(HELP_SECTIONS)));
    return done(EXIT.fine);
  },
});
